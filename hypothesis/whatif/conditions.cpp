#include "hypothesis/whatif/conditions.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace nplus1::hypothesis {
namespace {

std::string without_spaces(std::string_view text) {
  std::string bare{text};
  bare.erase(std::remove(bare.begin(), bare.end(), ' '), bare.end());
  return bare;
}

}  // namespace

Result<Condition> parse_condition(std::string_view text, const std::vector<std::string>& known) {
  const std::string bare = without_spaces(text);
  const std::size_t at = bare.find_first_of("<>");
  const std::size_t end = std::min(bare.find_first_not_of("<>=", at), bare.size());
  Condition condition{bare.substr(0, at), at == bare.npos ? "" : bare.substr(at, end - at), 0, bare};
  const bool sound = condition.comparison == "<" || condition.comparison == "<=" ||
                     condition.comparison == ">" || condition.comparison == ">=";
  const char* last = bare.data() + bare.size();
  const auto read = std::from_chars(bare.data() + end, last, condition.limit);
  if (!sound || read.ec != std::errc{} || read.ptr != last || !std::isfinite(condition.limit))
    return Error{"--fail-if: '" + std::string{text} + "' is no condition",
                 "write METRIC<NUMBER, or with <=, > or >=: parallel_efficiency<0.8"};
  if (std::find(known.begin(), known.end(), condition.metric) != known.end()) return condition;
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
  return Error{"--fail-if: there is no metric '" + condition.metric + "'", "the metrics are: " + all};
}

std::optional<bool> Condition::holds(const Side& side) const {
  const auto value = side.metric(metric);
  if (!value) return std::nullopt;
  if (comparison == "<") return *value < limit;
  if (comparison == "<=") return *value <= limit;
  if (comparison == ">") return *value > limit;
  return *value >= limit;
}

}  // namespace nplus1::hypothesis
