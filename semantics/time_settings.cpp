#include "semantics/time_settings.hpp"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <system_error>

#include "events/mpi_call.hpp"
#include "netmodel/quantity.hpp"

namespace nplus1::semantics {
namespace {

using netmodel::Quantity;

constexpr std::string_view kBlank = " \t\r\v\f";
/// Longer ones would leave no room in the 106 days that virtual time has.
constexpr double kLongestSeconds = 1e6;

std::string in_quotes(std::string_view text) {
  return "'" + std::string{text} + "'";
}

Result<Duration> parse_time(std::string_view text) {
  const auto seconds = netmodel::parse_quantity(text, Quantity::kTime);
  if (!seconds) return seconds.error();
  if (seconds.value() > kLongestSeconds)
    return Error{in_quotes(text) + " is longer than 1000000 s", "give a shorter time"};
  return from_seconds(seconds.value());
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && rest == end ? std::optional{value} : std::nullopt;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find('#'));
  for (std::size_t begin = line.find_first_not_of(kBlank); begin != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlank, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlank, end);
  }
  return words;
}

/// MODULE+0xOFFSET.
bool is_call_site(std::string_view where) {
  constexpr std::string_view kHex = "0123456789abcdefABCDEF", kPlus = "+0x";
  const std::size_t plus = where.rfind(kPlus);
  if (plus == where.npos || plus == 0) return false;
  const std::string_view digits = where.substr(plus + kPlus.size());
  return !digits.empty() && digits.find_first_not_of(kHex) == digits.npos;
}

Result<ComputeRule> parse_rule(const std::vector<std::string_view>& words) {
  constexpr std::size_t kWords = 3;
  const std::string shape = "a line is RANK WHERE TIME, as in: 0 MPI_Send 5ms";
  if (words.size() != kWords) return Error{std::to_string(words.size()) + " words instead of 3", shape};
  ComputeRule rule;
  if (words[0] != "*") {
    const auto rank = number_in<std::int32_t>(words[0]);
    if (!rank || *rank < 0)
      return Error{in_quotes(words[0]) + " is no rank", "give a number from 0, or * for all"};
    rule.rank = *rank;
  }
  if (words[1] != "*") {
    if (!events::call_named(words[1]) && !is_call_site(words[1]))
      return Error{in_quotes(words[1]) + " is neither an MPI function nor a call site",
                   "give a name such as MPI_Send, a call site such as app+0x1234, or * for all"};
    rule.where = words[1];
  }
  const auto length = parse_time(words[2]);
  if (!length) return length.error();
  rule.length = length.value();
  return rule;
}

template <class T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <class T>
bool take(std::string_view& bytes, T& value) {
  if (bytes.size() < sizeof(value)) return false;
  std::memcpy(&value, bytes.data(), sizeof(value));
  bytes.remove_prefix(sizeof(value));
  return true;
}

}  // namespace

Result<ComputeTimes> parse_compute(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view argument = colon == text.npos ? std::string_view{} : text.substr(colon + 1);
  const auto wrong = [&](const std::string& why) {
    return Error{in_quotes(text) + (why.empty() ? " is not understood" : ": " + why),
                 "use measured, warm, scale:FACTOR, fixed:TIME (5us, or seconds), file:FILE or recorded:DIR"};
  };
  ComputeTimes times;
  times.warm = text == "warm";
  if (text == "measured" || times.warm) return times;
  if (kind == "scale" && colon != text.npos) {
    const auto factor = number_in<double>(argument);
    if (!factor || !std::isfinite(*factor) || *factor < 0 || *factor > kLongestSeconds)
      return wrong("the factor is no number from 0 to 1000000");
    times.scale = *factor;
    return times;
  }
  if (kind == "fixed" && colon != text.npos) {
    const auto length = parse_time(argument);
    if (!length) return wrong(length.error().what);
    times.mode = ComputeMode::kFixed;
    times.fixed = length.value();
    return times;
  }
  if ((kind != "file" && kind != "recorded") || argument.empty()) return wrong("");
  times.mode = kind == "file" ? ComputeMode::kTable : ComputeMode::kRecorded;
  times.table = argument;
  return times;
}

bool ComputeRule::fits(std::string_view function, std::string_view place) const {
  if (where.empty() || where == function || where == place) return true;
  return place.size() > where.size() && place.substr(place.size() - where.size()) == where &&
         place[place.size() - where.size() - 1] == '/';
}

Result<std::vector<ComputeRule>> read_compute_rules(const std::string& file) {
  std::ifstream in{file};
  const auto unreadable = [&] {
    return Error{file + " can't be read: " + std::generic_category().message(errno),
                 "check the path, and that it is a file that you may read"};
  };
  if (!in) return unreadable();
  std::vector<ComputeRule> rules;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    const auto words = words_of(line);
    if (words.empty()) continue;
    auto rule = parse_rule(words);
    if (!rule)
      return Error{file + ":" + std::to_string(number) + ": " + rule.error().what, rule.error().remedy};
    rules.push_back(std::move(rule).value());
  }
  if (in.bad()) return unreadable();  // a folder opens, but does not read
  if (rules.empty()) return Error{file + " has no line that gives a time", "a line is RANK WHERE TIME"};
  return rules;
}

std::string packed(const std::vector<ComputeRule>& rules, RankId rank) {
  std::string bytes;
  for (const ComputeRule& rule : rules) {
    if (rule.rank >= 0 && rule.rank != rank.value) continue;
    put(bytes, rule.rank);
    put(bytes, std::int64_t{rule.length.count()});
    put(bytes, static_cast<std::uint32_t>(rule.where.size()));
    bytes += rule.where;
  }
  return bytes;
}

Result<std::vector<ComputeRule>> unpacked(std::string_view bytes) {
  std::vector<ComputeRule> rules;
  while (!bytes.empty()) {
    ComputeRule rule;
    std::int64_t length = 0;
    std::uint32_t size = 0;
    if (!take(bytes, rule.rank) || !take(bytes, length) || !take(bytes, size) || size > bytes.size() ||
        length < 0)
      return Error{"the compute times are cut or damaged", "run again"};
    rule.length = Duration{length};
    rule.where = bytes.substr(0, size);
    bytes.remove_prefix(size);
    rules.push_back(std::move(rule));
  }
  return rules;
}

Result<PollCost> parse_poll_cost(std::string_view text) {
  const std::size_t comma = text.find(',');
  const auto first = parse_time(text.substr(0, comma));
  const auto cap = comma == text.npos ? first : parse_time(text.substr(comma + 1));
  const std::string example = "give FIRST or FIRST,CAP, as in 200ns,10us";
  for (const auto* time : {&first, &cap})
    if (!*time) return Error{in_quotes(text) + ": " + time->error().what, example};
  if (first.value() <= Duration::zero())
    return Error{in_quotes(text) + ": a loop of polls that cost nothing would never end in virtual time",
                 example};
  if (cap.value() < first.value())
    return Error{in_quotes(text) + ": the cap is less than the first", example};
  return PollCost{first.value(), cap.value()};
}

}  // namespace nplus1::semantics
