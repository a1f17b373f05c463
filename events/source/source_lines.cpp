#include "events/source/source_lines.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <unordered_map>

namespace nplus1::events::source {
namespace {

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

Dwfl_Callbacks offline() {
  Dwfl_Callbacks callbacks{};
  callbacks.find_elf = dwfl_build_id_find_elf;
  callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
  callbacks.section_address = dwfl_offline_section_address;
  return callbacks;
}

/// gfortran's name of a procedure in a module, "__solver_MOD_sweep", as "solver::sweep"; else nothing.
std::string of_fortran_module(std::string_view name) {
  constexpr std::string_view kBegin = "__", kBetween = "_MOD_";
  const std::size_t between = name.find(kBetween);
  if (name.substr(0, kBegin.size()) != kBegin || between == std::string_view::npos ||
      between == kBegin.size())
    return {};
  return std::string{name.substr(kBegin.size(), between - kBegin.size())} +
         "::" + std::string{name.substr(between + kBetween.size())};
}

std::string readable(const char* name) {
  if (name == nullptr) return {};
  if (std::string fortran = of_fortran_module(name); !fortran.empty()) return fortran;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text{abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                    std::free};
  return status == 0 && text ? std::string{text.get()} : std::string{name};
}

/// A scope's DIEs, innermost first; malloc'd by libdw.
struct Scopes {
  Dwarf_Die* dies = nullptr;
  int count = 0;
  Scopes() = default;
  ~Scopes() { std::free(dies); }
  Scopes(const Scopes&) = delete;
  Scopes& operator=(const Scopes&) = delete;
};

/// Where a function was declared: there its DIE lies within its classes and namespaces.
Dwarf_Die declaration(const Dwarf_Die& die) {
  Dwarf_Die at = die;
  Dwarf_Attribute attribute;
  for (const unsigned link : {unsigned{DW_AT_abstract_origin}, unsigned{DW_AT_specification}}) {
    Dwarf_Die next;
    if (dwarf_formref_die(dwarf_attr(&at, link, &attribute), &next) != nullptr) at = next;
  }
  return at;
}

bool names_a_scope(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
}

std::string scope_name(Dwarf_Die* die) {
  const char* name = dwarf_diename(die);
  return (name == nullptr ? std::string{"(anonymous namespace)"} : std::string{name}) + "::";
}

/// One walk through a compilation unit: libdw has no index of what lies within what, and walks anew for each address.
class UnitIndex {
 public:
  explicit UnitIndex(Dwarf_Die unit) { walk(unit, kNone, {}); }

  /// The functions around an address, innermost first: all but the last inlined into the next.
  [[nodiscard]] std::vector<Dwarf_Die> functions(Dwarf_Addr address) const {
    std::size_t innermost = kNone;
    for (const Range& range : ranges_)  // of a function within another one the later
      if (range.begin <= address && address < range.end) innermost = range.function;
    std::vector<Dwarf_Die> all;
    for (std::size_t f = innermost; f != kNone; f = functions_[f].within) all.push_back(functions_[f].die);
    return all;
  }
  /// "(anonymous namespace)::Solver::", of what a DIE of this unit lies in; nothing of one that is not known.
  [[nodiscard]] const std::string* scope_of(Dwarf_Die& die) const {
    const auto found = scopes_.find(dwarf_dieoffset(&die));
    return found == scopes_.end() ? nullptr : &found->second;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Function {
    Dwarf_Die die;
    std::size_t within;  // inlined into
  };
  struct Range {
    Dwarf_Addr begin, end;
    std::size_t function;
  };

  void walk(Dwarf_Die& parent, std::size_t within, const std::string& scope) {
    Dwarf_Die child;
    if (dwarf_child(&parent, &child) != 0) return;
    do {
      const int tag = dwarf_tag(&child);
      if (names_a_scope(tag)) {
        walk(child, kNone, scope + scope_name(&child));
        continue;
      }
      const bool function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
      if (function && !scope.empty()) scopes_.emplace(dwarf_dieoffset(&child), scope);
      if (dwarf_haschildren(&child) > 0 || function)
        walk(child, function ? add(child, tag, within) : within, scope);
    } while (dwarf_siblingof(&child, &child) == 0);
  }

  /// A function with code, and its place; else what it lies within.
  std::size_t add(Dwarf_Die& die, int tag, std::size_t within) {
    const std::size_t place = functions_.size();
    Dwarf_Addr base = 0, begin = 0, end = 0;
    bool has_code = false;
    for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0; has_code = true)
      ranges_.push_back({begin, end, place});
    if (!has_code) return tag == DW_TAG_subprogram ? kNone : within;
    functions_.push_back({die, tag == DW_TAG_subprogram ? kNone : within});
    return place;
  }

  std::vector<Function> functions_;
  std::vector<Range> ranges_;
  std::unordered_map<Dwarf_Off, std::string> scopes_;
};

/// Of what a function is declared in. Its declaration may stand in another unit (link-time optimisation): there it is
/// looked for.
std::string scope_of(const Dwarf_Die& die, const UnitIndex& index) {
  Dwarf_Die declared = declaration(die);
  if (const std::string* known = index.scope_of(declared)) return *known;
  Dwarf_Die its_unit, own_unit, copy = die;
  if (dwarf_diecu(&declared, &its_unit, nullptr, nullptr) != nullptr &&
      dwarf_diecu(&copy, &own_unit, nullptr, nullptr) != nullptr &&
      dwarf_dieoffset(&its_unit) == dwarf_dieoffset(&own_unit))
    return {};
  Scopes scopes;
  scopes.count = dwarf_getscopes_die(&declared, &scopes.dies);
  std::string text;
  for (int i = 1; i < scopes.count; ++i)
    if (names_a_scope(dwarf_tag(&scopes.dies[i]))) text = scope_name(&scopes.dies[i]) + text;
  return text;
}

/// The name of a function's DIE; C++ functions with their scope, and parameters where the compiler says.
std::string name_of(Dwarf_Die* die, const UnitIndex& index) {
  Dwarf_Attribute attribute;
  for (const unsigned which : {unsigned{DW_AT_linkage_name}, unsigned{DW_AT_MIPS_linkage_name}}) {
    const char* linkage = dwarf_formstring(dwarf_attr_integrate(die, which, &attribute));
    if (linkage != nullptr) return readable(linkage);
  }
  const char* name = dwarf_diename(die);
  return name == nullptr ? std::string{} : scope_of(*die, index) + name;
}

Dwarf_Word number(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  return dwarf_formudata(dwarf_attr(die, attribute, &found), &value) == 0 ? value : 0;
}

}  // namespace

class SourceLines::Module {
 public:
  explicit Module(const std::string& path) : session_{dwfl_begin(&callbacks_)} {
    if (session_ == nullptr) return;
    module_ = dwfl_report_offline(session_, path.c_str(), path.c_str(), -1);
    dwfl_report_end(session_, nullptr, nullptr);
    if (module_ != nullptr)
      dwfl_module_info(module_, nullptr, &start_, nullptr, nullptr, nullptr, nullptr, nullptr);
  }
  ~Module() {
    if (session_ != nullptr) dwfl_end(session_);
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Whether this is the file of that build: it may have been replaced since the program was started.
  [[nodiscard]] bool is_build(const std::string& id) const {
    const unsigned char* bytes = nullptr;
    GElf_Addr address = 0;
    const int size = module_ == nullptr ? 0 : dwfl_module_build_id(module_, &bytes, &address);
    std::string mine;
    for (int i = 0; i < size; ++i) mine += fmt::format("{:02x}", bytes[i]);
    return id.empty() || mine == id;
  }
  [[nodiscard]] std::string symbol(std::uint64_t offset) const {
    return readable(module_ == nullptr ? nullptr : dwfl_module_addrname(module_, start_ + offset));
  }
  /// File and line; empty and 0 if unknown.
  void line(std::uint64_t offset, std::string& file, std::uint32_t& number) const {
    Dwarf_Addr bias = 0;
    Dwarf_Die* its_unit = unit(offset, bias);
    Dwarf_Line* found = its_unit == nullptr ? nullptr : dwarf_getsrc_die(its_unit, start_ + offset - bias);
    int line = 0;
    const char* name = found == nullptr ? nullptr : dwarf_linesrc(found, nullptr, nullptr);
    if (name == nullptr || dwarf_lineno(found, &line) != 0) return;
    file = name;
    number = static_cast<std::uint32_t>(line);
  }
  /// The functions at `offset`, innermost first: all but the last inlined into the next.
  [[nodiscard]] std::vector<events::Frame> functions(std::uint64_t offset) const {
    std::vector<events::Frame> frames(1);
    line(offset, frames[0].file, frames[0].line);
    expand(offset, frames);
    if (frames[0].function.empty()) frames[0].function = symbol(offset);
    return frames;
  }

 private:
  /// The compilation unit of an address. libdw looks in a table that clang does not write.
  Dwarf_Die* unit(std::uint64_t offset, Dwarf_Addr& bias) const {
    if (module_ == nullptr) return nullptr;
    Dwarf_Die* unit = dwfl_module_addrdie(module_, start_ + offset, &bias);
    if (unit != nullptr) return unit;
    while ((unit = dwfl_module_nextcu(module_, unit, &bias)) != nullptr)
      if (dwarf_haspc(unit, start_ + offset - bias) > 0) return unit;
    return nullptr;
  }

  void expand(std::uint64_t offset, std::vector<events::Frame>& frames) const {
    Dwarf_Addr bias = 0;
    Dwarf_Die* its_unit = unit(offset, bias);
    if (its_unit == nullptr) return;
    const UnitIndex& index = index_of(*its_unit);
    Dwarf_Files* files = nullptr;
    dwarf_getsrcfiles(its_unit, &files, nullptr);
    for (Dwarf_Die& die : index.functions(start_ + offset - bias)) {
      frames.back().function = name_of(&die, index);
      if (dwarf_tag(&die) == DW_TAG_subprogram) return;
      events::Frame caller;
      const char* file =
          files == nullptr ? nullptr : dwarf_filesrc(files, number(&die, DW_AT_call_file), nullptr, nullptr);
      if (file != nullptr) caller.file = file;
      caller.line = static_cast<std::uint32_t>(number(&die, DW_AT_call_line));
      frames.push_back(std::move(caller));
    }
  }

  const UnitIndex& index_of(Dwarf_Die unit) const {
    const Dwarf_Off at = dwarf_dieoffset(&unit);
    const auto known = indices_.find(at);
    return known != indices_.end() ? known->second : indices_.emplace(at, unit).first->second;
  }

  Dwfl_Callbacks callbacks_ = offline();
  Dwfl* session_;
  Dwfl_Module* module_ = nullptr;
  Dwarf_Addr start_ = 0;
  mutable std::unordered_map<Dwarf_Off, UnitIndex> indices_;  // by unit
};

SourceLines::SourceLines() {
  unsetenv("DEBUGINFOD_URLS");  // libdw would ask these servers for what is missing here
}
SourceLines::~SourceLines() = default;

SourceLines::Module& SourceLines::module(const std::string& path) {
  std::unique_ptr<Module>& known = modules_[path];
  if (!known) known = std::make_unique<Module>(path);
  return *known;
}

std::string SourceLines::call_returning_to(const std::string& path, std::uint64_t offset) {
  return call_from({path, {}, offset, {}, {}, 0});
}

std::string SourceLines::call_from(const events::Frame& asked) {
  const events::Frame frame = resolve(asked).front();
  if (frame.module.empty() && frame.file.empty()) return frame.function;
  const std::string place = frame.file.empty()
                                ? fmt::format("{}+{:#x}", file_name(frame.module), frame.offset)
                                : fmt::format("{}:{}", file_name(frame.file), frame.line);
  return frame.function.empty() ? place : fmt::format("{} ({})", frame.function, place);
}

std::vector<events::Frame> SourceLines::resolve(const events::Frame& frame) {
  if (frame.module.empty()) return {frame};
  const Module& its = module(frame.module);
  if (!its.is_build(frame.build_id)) return {frame};
  // The call itself lies before its return address, and may be the last thing on its line.
  std::vector<events::Frame> frames = its.functions(frame.offset == 0 ? 0 : frame.offset - 1);
  for (events::Frame& f : frames) {
    f.module = frame.module;
    f.build_id = frame.build_id;
    f.offset = frame.offset;
  }
  return frames;
}

events::CallPath SourceLines::resolve(const events::CallPath& path) {
  events::CallPath resolved{path.id, {}};
  for (const events::Frame& frame : path.frames) {
    const std::vector<events::Frame> frames = resolve(frame);
    resolved.frames.insert(resolved.frames.end(), frames.begin(), frames.end());
  }
  return resolved;
}

std::string SourceLines::function_at(const std::string& place) {
  const std::size_t plus = place.rfind("+0x");
  if (plus == std::string::npos) return place;
  const std::uint64_t offset = std::strtoull(place.c_str() + plus + 1, nullptr, 16);
  const std::string name = module(place.substr(0, plus)).functions(offset).back().function;
  return name.empty() ? place : name;
}

}  // namespace nplus1::events::source
