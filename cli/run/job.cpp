#include "cli/run/job.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace nplus1::cli {
namespace {

/// mpirun's options for one section, and how many words follow each.
const std::map<std::string, std::size_t>& section_options() {
  static const std::map<std::string, std::size_t> options{
      {"-host", 1}, {"-hosts", 1},  {"-wdir", 1},    {"-wd", 1},      {"-path", 1},
      {"-env", 2},  {"-envall", 0}, {"-envnone", 0}, {"-envlist", 1}, {"-arch", 1}};
  return options;
}

std::string spelled_with_one_dash(const std::string& word) {
  return word.rfind("--", 0) == 0 ? word.substr(1) : word;
}

/// Moves the option at words[at] into the section; `at` ends after it.
Result<bool> take_option(const std::vector<std::string>& words, std::size_t& at, Section& section) {
  const std::string option = spelled_with_one_dash(words[at]);
  const bool counts = option == "-n" || option == "-np";
  const auto known = section_options().find(option);
  if (!counts && known == section_options().end()) {
    return Error{"option " + words[at] + " of a program after ':' is not understood",
                 "use -n, -host, -wdir, -path or -env there, and --mpi-args for the rest"};
  }
  const std::size_t values = counts ? 1 : known->second;
  if (at + values >= words.size()) {
    return Error{"option " + words[at] + " lacks its value", "write it as mpirun expects it"};
  }
  if (counts) {
    const auto ranks = parse_ranks(words[at + 1]);
    if (!ranks) return ranks.error();
    section.ranks = ranks.value();
  } else {
    section.options.insert(section.options.end(), words.begin() + static_cast<std::ptrdiff_t>(at),
                           words.begin() + static_cast<std::ptrdiff_t>(at + values + 1));
  }
  at += values + 1;
  return true;
}

Result<Section> parse_section(const std::vector<std::string>& words, bool first) {
  Section section;
  std::size_t at = 0;
  while (!first && at < words.size() && words[at].rfind('-', 0) == 0) {
    const auto taken = take_option(words, at, section);
    if (!taken) return taken.error();
  }
  if (at == words.size()) {
    return Error{"there is no program " + std::string{first ? "to run" : "after ':'"},
                 "name it after --, as in: nplus1 run -n 4 -- ./app"};
  }
  section.command.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  return section;
}

}  // namespace

Result<std::int32_t> parse_ranks(const std::string& text) {
  std::int32_t ranks = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
  if (error != std::errc{} || end != text.data() + text.size() || ranks < 1 || ranks > kMaxRanks) {
    return Error{
        "number of ranks '" + text + "' is not a whole number between 1 and " + std::to_string(kMaxRanks),
        "give the ranks that the application sees, e.g. -n 16; the simulator's rank is added for you"};
  }
  return ranks;
}

Result<std::vector<Section>> parse_sections(std::int32_t first_ranks, const std::vector<std::string>& words) {
  std::vector<Section> sections;
  auto start = words.begin();
  while (true) {
    const auto colon = std::find(start, words.end(), ":");
    auto section = parse_section({start, colon}, sections.empty());
    if (!section) return section.error();
    sections.push_back(std::move(section).value());
    if (colon == words.end()) break;
    start = colon + 1;
  }
  sections.front().ranks = first_ranks;
  if (total_ranks(sections) > kMaxRanks) {
    return Error{"the sections together have more than " + std::to_string(kMaxRanks) + " ranks", "use fewer"};
  }
  return sections;
}

std::int32_t total_ranks(const std::vector<Section>& sections) {
  std::int64_t total = 0;
  for (const Section& section : sections) total += section.ranks;
  return static_cast<std::int32_t>(std::min<std::int64_t>(total, kMaxRanks + 1));
}

}  // namespace nplus1::cli
