// Any text as SMPI's time-independent trace: one file, or several, each behind a line "# file". What is read is written again,
// which goes through the same flattening as GOAL.
#include "events/time_independent/time_independent.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <random>

#include "events/recording/testing/scratch_folder.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {
namespace {

constexpr std::string_view kNextFile = "# file\n";
constexpr std::int64_t kMostRanks = 8;  // of what mutation makes

using Random = std::mt19937_64;
using Lines = std::vector<std::string>;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

/// Of the lines that begin with a rank; at least 1, and few.
std::int64_t ranks_in(const Lines& lines) {
  std::int64_t last = 0;
  for (const std::string& line : lines) {
    std::int64_t rank = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), rank);
    if (error == std::errc{} && rank < kMostRanks) last = std::max(last, rank);
  }
  return last + 1;
}

/// What an action's arguments are: R rank, T tag, S size, L a size for each rank, D datatype, C amount of computing.
struct Form {
  const char* action;
  const char* arguments;
};

constexpr std::array kCollectives{
    Form{"barrier", ""},      Form{"bcast", "SRD"},        Form{"reduce", "SSRD"},
    Form{"allreduce", "SSD"}, Form{"scan", "SSD"},         Form{"exscan", "SSD"},
    Form{"gather", "SSRD"},   Form{"scatter", "SSRD"},     Form{"gatherv", "SLRD"},
    Form{"scatterv", "LSRD"}, Form{"allgather", "SSD"},    Form{"allgatherv", "SLD"},
    Form{"alltoall", "SSD"},  Form{"alltoallv", "SLSLDD"}, Form{"reducescatter", "LSD"}};
constexpr std::array kOwn{Form{"init", ""},       Form{"init", "D"},     Form{"finalize", ""},
                          Form{"compute", "C"},   Form{"sleep", "C"},    Form{"send", "RTSD"},
                          Form{"recv", "RTSD"},   Form{"isend", "RTSD"}, Form{"irecv", "RTSD"},
                          Form{"wait", "RRT"},    Form{"test", "RRT"},   Form{"waitall", ""},
                          Form{"comm_size", "S"}, Form{"location", "SS"}};

std::string size_word(Random& random) {
  constexpr std::array<const char*, 12> kSizes{"0",
                                               "1",
                                               "8",
                                               "1024",
                                               "65537",
                                               "4294967296",
                                               "140737488355328",
                                               "140737488355327",
                                               "17592186044416",
                                               "576460752303423488",
                                               "576460752303423487",
                                               "288230376151711744"};
  return random() % 4 == 0 ? kSizes[random() % kSizes.size()] : std::to_string(random() % 2000);
}

std::string amount_word(Random& random) {
  constexpr std::array<const char*, 10> kAmounts{
      "1e15", "1e6", "1e14", "0", "1e-12", "1e18", "0x1p49", "5e-324", "999999999999999", "1000000"};
  return random() % 4 == 0 ? kAmounts[random() % kAmounts.size()] : std::to_string(random() % 100000);
}

std::string arguments(std::string_view form, std::int64_t ranks, Random& random) {
  const auto member = [&] {
    return std::to_string(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(ranks)));
  };
  std::string words;
  for (const char kind : form) {
    if (kind == 'R') words += ' ' + member();
    if (kind == 'T') words += ' ' + std::to_string(random() % 3);
    if (kind == 'S') words += ' ' + size_word(random);
    if (kind == 'C') words += ' ' + amount_word(random);
    if (kind == 'L')
      for (std::int64_t i = 0; i < ranks; ++i) words += ' ' + size_word(random);
    if (kind == 'D' && random() % 2 == 0) words += ' ' + std::to_string(random() % 7);
  }
  return words;
}

/// Lines that belong together: a collective of everybody's, a message with both ends and its completion, or any one action.
std::string sound_lines(std::int64_t ranks, Random& random) {
  const auto member = [&] { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(ranks)); };
  std::string text;
  const std::uint64_t what = random() % 3;
  if (what == 0) {
    const Form& form = kCollectives[random() % kCollectives.size()];
    const std::string same = arguments(form.arguments, ranks, random);
    for (std::int64_t rank = 0; rank < ranks; ++rank)
      text += std::to_string(rank) + ' ' + form.action + same + '\n';
  } else if (what == 1) {
    const std::string from = std::to_string(member());
    const std::string to = std::to_string(member());
    const std::string tag = std::to_string(random() % 3);
    const std::string size = size_word(random);
    const std::string pair = from + ' ' + to + ' ' + tag + '\n';
    text = from + " isend " + to + ' ' + tag + ' ' + size + '\n' + to + " irecv " + from + ' ' + tag + ' ' +
           (random() % 2 == 0 ? "-1" : size) + '\n';
    text += random() % 2 == 0 ? to + " test " + pair : std::string{};
    text += random() % 2 == 0 ? from + " wait " + pair + to + " wait " + pair
                              : from + " waitall\n" + to + " waitall\n";
  } else {
    const Form& form = kOwn[random() % kOwn.size()];
    text = std::to_string(member()) + ' ' + form.action + arguments(form.arguments, ranks, random) + '\n';
  }
  return text;
}

/// A word of a line is another, is left out, or comes twice.
void change_word(std::string& line, Random& random) {
  const std::size_t at = line.find(' ', random() % line.size());
  if (at == std::string::npos) return;
  const std::size_t end = std::min(line.find_first_of(" \n", at + 1), line.size());
  const std::string word = line.substr(at, end - at);
  const std::array<std::string, 6> instead{" " + size_word(random),
                                           " " + amount_word(random),
                                           " -1",
                                           "",
                                           word + word,
                                           " " + std::to_string(random() % kMostRanks)};
  line.replace(at, end - at, instead[random() % instead.size()]);
}

void change_lines(Lines& lines, Random& random) {
  const std::int64_t ranks = ranks_in(lines);
  const std::size_t at = lines.empty() ? 0 : random() % lines.size();
  const auto place = lines.begin() + static_cast<std::ptrdiff_t>(at);
  const std::uint64_t what = lines.empty() ? 0 : random() % 8;
  if (what < 3) {
    lines.insert(place, sound_lines(ranks, random));
  } else if (what == 3) {
    change_word(*place, random);
  } else if (what == 4) {
    lines.erase(place);
  } else if (what == 5) {
    std::swap(*place, lines[random() % lines.size()]);
  } else if (what == 6) {
    const std::string line = *place;
    lines.insert(place, 1 + random() % 12, line);
  } else {
    lines.insert(place, ranks < kMostRanks && random() % 2 == 0 ? std::to_string(ranks) + " init\n"
                                                                : std::string{kNextFile});
  }
}

}  // namespace

bool run(Input input) {
  std::string_view text = as_text(input);
  std::deque<MemoryFile> traces;
  std::string names;
  for (bool more = true; more;) {
    const std::size_t end = traces.size() < 4 ? text.find(kNextFile) : std::string_view::npos;
    more = end != std::string_view::npos;
    names += traces.emplace_back(text.substr(0, end)).path().string() + "\n";
    if (more) text.remove_prefix(end + kNextFile.size());
  }
  const MemoryFile list{names};
  auto importer = events::time_independent::open(list.path());
  if (!importer) return false;
  const events::recording::ScratchFolder scratch{in_memory()};
  const auto no_rounds = [](const auto&, auto, auto) { return std::vector<events::exchange::Round>{}; };
  auto exporter =
      events::time_independent::create(scratch.path() / "out", importer.value()->preamble(), no_rounds);
  if (!exporter) std::abort();
  if (!importer.value()->read(*exporter.value())) return false;
  return exporter.value()->close().ok();
}

std::optional<std::string> mutated_by_structure(Input input, std::uint64_t seed) {
  Random random{seed};
  Lines lines = lines_of(as_text(input));
  for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) change_lines(lines, random);
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

std::vector<std::string> seeds() {
  return {
      "0 init\n1 init\n0 compute 1e6\n1 sleep 0.5\n0 send 1 0 1024 6\n1 recv 0 0 1024 6\n0 isend 1 1 8\n1 "
      "irecv 0 1 8\n"
      "1 test 0 1 1\n1 wait 0 1 1\n0 wait 0 1 1\n0 irecv 1 2 -1 0\n1 isend 0 2 4 0\n0 waitall 1\n1 waitall "
      "1\n"
      "0 comm_size 2\n0 location a.c 12\n# a remark\n\n0 finalize\n1 finalize\n",
      "0 init\n1 init\n0 barrier\n1 barrier\n0 bcast 1024 0 6\n1 bcast 1024 0 6\n0 reduce 8 10 1 6\n1 reduce "
      "8 10 1 6\n"
      "0 allreduce 8 10 6\n1 allreduce 8 10 6\n0 alltoall 8 8 6 6\n1 alltoall 8 8 6 6\n0 allgather 8 8 6 6\n"
      "1 allgather 8 8 6 6\n0 scan 8 10 6\n1 scan 8 10 6\n0 exscan 8 10 6\n1 exscan 8 10 6\n0 finalize\n1 "
      "finalize\n",
      "0 init 1\n1 init 1\n0 allgatherv 4 4 4 6 6\n1 allgatherv 4 4 4 6 6\n0 gather 8 8 0 6 6\n1 gather 8 8 "
      "0 6 6\n"
      "0 scatter 8 8 0 6 6\n1 scatter 8 8 0 6 6\n0 gatherv 8 8 8 0 6 6\n1 gatherv 8 8 8 0 6 6\n0 scatterv 8 "
      "8 8 0 6 6\n"
      "1 scatterv 8 8 8 0 6 6\n0 reducescatter 4 4 10 6\n1 reducescatter 4 4 10 6\n0 alltoallv 8 4 4 8 4 4 6 "
      "6\n"
      "1 alltoallv 8 4 4 8 4 4 6 6\n0 finalize\n1 finalize\n"};
}

bool is_text() {
  return true;
}

}  // namespace nplus1::fuzz
