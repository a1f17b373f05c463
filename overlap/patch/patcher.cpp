#include "overlap/patch/patcher.hpp"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <variant>

#include "overlap/patch/compiler.hpp"
#include "overlap/patch/plan.hpp"
#include "overlap/patch/rewrite.hpp"
#include "overlap/patch/unified_diff.hpp"

namespace nplus1::overlap::patch {
namespace fs = std::filesystem;
namespace {

std::string absolute_path(const std::string& file) {
  return fs::weakly_canonical(fs::absolute(file)).string();
}

/// A device or a pipe in a source's place would never end.
std::optional<std::string> content_of(const std::string& file) {
  std::error_code unknown;
  if (!fs::is_regular_file(file, unknown)) return std::nullopt;
  std::ifstream stream{file, std::ios::binary};
  if (!stream) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>{stream}, {}};
}

/// Everything about one file that several chains share.
struct File {
  explicit File(std::string content) : source{std::move(content)} {}
  Source source;
  std::optional<Compilation> how;
  std::optional<SyntaxTree> tree;
  std::optional<Error> error;
  std::vector<Edit> edits;  ///< of all chains so far
};

std::string common_folder(const Request& request) {
  fs::path common;
  for (const Chain& chain : request.chains)
    for (const Call& call : chain.calls) {
      const fs::path folder = fs::path{absolute_path(call.place.file)}.parent_path();
      if (common.empty()) common = folder;
      while (std::mismatch(common.begin(), common.end(), folder.begin(), folder.end()).first != common.end())
        common = common.parent_path();
    }
  return common.empty() ? fs::current_path().string() : common.string();
}

std::string first_lines(const std::string& text, int lines) {
  std::istringstream stream{text};
  std::string all;
  std::string line;
  for (int i = 0; i < lines && std::getline(stream, line); ++i) all += (i == 0 ? "" : " | ") + line;
  return all;
}

/// What to do by hand where there is no rewriting.
std::string advice_for(const Chain& chain) {
  const std::string line = std::to_string(chain.calls.front().place.line);
  std::size_t requests = 0;
  std::string text;
  for (const Call& call : chain.calls) {
    const std::string place = "line " + std::to_string(call.place.line) + ": ";
    const auto request = [&] { return "req_" + line + "(" + std::to_string(++requests) + ")"; };
    if (call.kind != CallKind::kReceive)
      text += place + "MPI_Isend with " + request() + " in the place of " + call.function + "\n";
    if (call.kind != CallKind::kSend)
      text += place + "MPI_Irecv with " + request() + " in the place of " + call.function + "\n";
  }
  const std::string count = std::to_string(requests);
  std::string wait = "behind line " + std::to_string(chain.calls.back().place.line);
  if (chain.wait.where == WaitPlace::kBeforeLine)
    wait = "before line " + std::to_string(chain.wait.place.line);
  return "declare: integer :: req_" + line + "(" + count +
         ") (type(MPI_Request) with mpi_f08); the buffers need the attribute asynchronous\n" + text + wait +
         ": call MPI_Waitall(" + count + ", req_" + line + ", MPI_STATUSES_IGNORE, ierr)\n" +
         "An array section as a buffer is copied by compilers that don't know MPI_Irecv: pass its first "
         "element.\n";
}

class Patcher {
 public:
  explicit Patcher(const Request& request) : request_{request} {
    answer_.root = request.root.empty() ? common_folder(request) : absolute_path(request.root);
  }

  Answer run() {
    for (const Chain& chain : request_.chains) answer_.chains.push_back(one(chain));
    for (const auto& [name, file] : files_)
      if (file != nullptr && !file->edits.empty())
        answer_.diff += unified_diff(file->source, file->edits, relative(name.second));
    return std::move(answer_);
  }

 private:
  using Outcome = std::optional<Refusal>;

  [[nodiscard]] std::string relative(const std::string& file) const {
    return fs::path{file}.lexically_relative(answer_.root).generic_string();
  }

  ChainAnswer one(const Chain& chain) {
    ChainAnswer result;
    result.id = chain.id;
    result.refusal = patch(chain, result);
    if (result.refusal) result.diff.clear();
    return result;
  }

  static Refusal refuse(const Chain& chain, std::string code, std::string reason) {
    return {chain.calls.empty() ? Place{} : chain.calls.front().place, std::move(code), std::move(reason)};
  }

  Outcome patch(const Chain& chain, ChainAnswer& result) {
    if (chain.calls.empty()) return refuse(chain, "no_calls", "the chain has no calls");
    const std::string file = absolute_path(chain.calls.front().place.file);
    if (is_fortran(file)) {
      result.advice = advice_for(chain);
      return refuse(chain, "fortran",
                    "Fortran is not rewritten: the advice says what to change in which lines");
    }
    for (const Call& call : chain.calls)
      if (absolute_path(call.place.file) != file)
        return refuse(chain, "other_function",
                      "the chain goes through several files: the wait would have to be in a caller");
    if (relative(file).rfind("..", 0) == 0)
      return refuse(chain, "outside", "the file is not below " + answer_.root);
    if (auto changed = check_state(chain, file)) return changed;
    const std::string unit = chain.unit.empty() ? file : absolute_path(chain.unit);
    File* opened = open(unit, file);
    if (opened == nullptr) return refuse(chain, "no_source", "the source cannot be read");
    if (opened->error) return refuse(chain, "not_parsed", opened->error->what + "; " + opened->error->remedy);
    return patch_in(chain, *opened, unit, file, result);
  }

  [[nodiscard]] Outcome check_state(const Chain& chain, const std::string& file) const {
    for (const SourceState& state : request_.sources) {
      if (absolute_path(state.file) != file) continue;
      struct stat status {};
      if (state.not_after && stat(file.c_str(), &status) == 0) {
        const double changed =
            static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
        if (changed > *state.not_after)
          return refuse(chain, "changed",
                        "the source has changed since the program was built: its lines may mean something "
                        "else; build and record again");
      }
      const auto content = content_of(file);
      if (state.crc32 && content) {
        const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(content->data()), content->size());
        if (sum != *state.crc32)
          return refuse(
              chain, "changed",
              "the source is not the one that was compiled: its checksum differs; build and record again");
      }
    }
    return std::nullopt;
  }

  File* open(const std::string& unit, const std::string& file) {
    auto& slot = files_[{unit, file}];
    if (slot != nullptr) return slot.get();
    auto content = content_of(file);
    if (!content) return nullptr;
    slot = std::make_unique<File>(std::move(*content));
    auto how = compilation_of(request_, unit);
    if (!how) {
      slot->error = how.error();
      return slot.get();
    }
    slot->how = how.value();
    auto tree = SyntaxTree::parse(unit, file, slot->source.text(), slot->how->for_libclang());
    if (tree)
      slot->tree = std::move(tree).value();
    else
      slot->error = tree.error();
    return slot.get();
  }

  Outcome patch_in(const Chain& chain, File& file, const std::string& unit, const std::string& path,
                   ChainAnswer& result) {
    const Source& source = file.source;
    for (const Call& call : chain.calls)
      if (call.place.line < 1 || call.place.line > source.lines())
        return refuse(chain, "not_found",
                      "the file has no line " + std::to_string(call.place.line) +
                          ": this is not the source that was compiled");
    const auto function = file.tree->function_around(offset_of(source, chain.calls.front()));
    if (function == nullptr)
      return refuse(chain, "not_found",
                    "no function is in line " + std::to_string(chain.calls.front().place.line) +
                        ": this is not the source that was compiled, or a macro defines it");
    if (auto refused = check_function(chain, source, *function, path)) return refused;
    std::vector<LocatedCall> calls;
    for (const Call& call : chain.calls) {
      auto located = locate(source, *function, call, file.tree->is_cpp());
      if (auto* refusal = std::get_if<Refusal>(&located)) return std::move(*refusal);
      calls.push_back(std::get<LocatedCall>(std::move(located)));
    }
    const auto plan = plan_for(source, *file.tree, *function, chain, calls);
    if (const auto* refusal = std::get_if<Refusal>(&plan)) return *refusal;
    return write(chain, file, unit, path, std::get<Plan>(plan), calls, result);
  }

  [[nodiscard]] static Outcome check_function(const Chain& chain, const Source& source, const Node& function,
                                              const std::string& path) {
    const int first = source.line_of(function.begin);
    const int last = source.line_of(function.end);
    const auto inside = [&](int line) { return first <= line && line <= last; };
    for (const Call& call : chain.calls)
      if (!inside(call.place.line))
        return Refusal{
            call.place, "other_function",
            "the calls of the chain are in several functions: the wait would have to be in their caller"};
    const Place& wait = chain.wait.place;
    if (chain.wait.where == WaitPlace::kBeforeLine &&
        (absolute_path(wait.file) != path || !inside(wait.line)))
      return Refusal{wait, "other_function",
                     "the buffers are used behind the end of " + spelling(function.cursor) +
                         ": the wait would have to be in its caller"};
    return std::nullopt;
  }

  /// Declarations where they are; braces around all where the language or a label wants that.
  [[nodiscard]] static std::vector<Style> styles(const File& file, const Plan& plan) {
    std::vector<Style> styles;
    if (!file.how->is_c89) styles.push_back(Style::kDeclarations);
    if (!plan.has_declarations) styles.push_back(Style::kBraces);
    return styles;
  }

  Outcome write(const Chain& chain, File& file, const std::string& unit, const std::string& path,
                const Plan& plan, const std::vector<LocatedCall>& calls, ChainAnswer& result) {
    Refusal refusal = refuse(chain, "declarations",
                             "C89 has no place for the requests: declarations stand between post and wait");
    for (const Style style : styles(file, plan)) {
      std::vector<Edit> edits = rewritten(file.source, plan, calls, style);
      std::vector<Edit> all = file.edits;
      all.insert(all.end(), edits.begin(), edits.end());
      if (overlap(all))
        return refuse(chain, "other_chain", "another chain of this request has rewritten these calls");
      if (auto words = wrong(file, unit, path, edits)) {
        refusal = refuse(chain, "not_compiled", "the result would not compile: " + *words);
        continue;
      }
      if (!file.edits.empty() && wrong(file, unit, path, all))
        return refuse(chain, "other_chain",
                      "together with the other chains' changes the result would not compile");
      file.edits = std::move(all);
      result.diff = unified_diff(file.source, std::move(edits), relative(path));
      result.wait = {path, wait_line(file.source, plan)};
      result.notes = plan.notes;
      for (const Call& call : chain.calls) note_earlier_posts(call, result.notes);
      return std::nullopt;
    }
    return refusal;
  }

  static void note_earlier_posts(const Call& call, std::vector<std::string>& notes) {
    const auto note = [&](const char* which, int line) {
      if (line > 0)
        notes.push_back(
            "line " + std::to_string(call.place.line) + ": the " + which +
            " is posted in the place of the call; in the recorded run it could have been behind line " +
            std::to_string(line));
    };
    note("send", call.post_send_after);
    note("receive", call.post_receive_after);
  }

  static int wait_line(const Source& source, const Plan& plan) {
    return source.line_of(plan.before != nullptr ? plan.before->begin : plan.block->end - 1);
  }

  /// What libclang or the compiler says of the changed text.
  [[nodiscard]] static std::optional<std::string> wrong(const File& file, const std::string& unit,
                                                        const std::string& path,
                                                        const std::vector<Edit>& edits) {
    const std::string text = applied(file.source, edits);
    const auto tree = SyntaxTree::parse(unit, path, text, file.how->for_libclang());
    if (!tree) return tree.error().what;
    if (unit != path) return std::nullopt;  // an included file has no compilation of its own
    if (auto words = complaint(*file.how, unit, text)) {
      if (complaint(*file.how, unit, file.source.text()))
        return "the source as it is does not compile with these flags either: " + first_lines(*words, 3);
      return first_lines(*words, 3);
    }
    return std::nullopt;
  }

  const Request& request_;
  Answer answer_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<File>> files_;
};

}  // namespace

Answer answer(const Request& request) {
  return Patcher{request}.run();
}

}  // namespace nplus1::overlap::patch
