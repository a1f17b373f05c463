#include "report/trust.hpp"

#include <fmt/format.h>

#include "report/json_object.hpp"

namespace nplus1::report {

std::vector<std::string> doubts(const Trust& trust) {
  std::vector<std::string> sentences;
  const auto count = [&sentences](std::uint64_t number, const char* one, const char* many, const char* what) {
    if (number > 0) sentences.push_back(fmt::format("{} {}{}", number, number == 1 ? one : many, what));
  };
  count(trust.clock_mismatches, "clock mismatch", "clock mismatches", " between a rank and the simulator");
  count(trust.order_inversions, "order inversion", "order inversions",
        ": matched before an earlier message was known");
  count(trust.forced_decisions, "forced decision", "forced decisions",
        ": made without proof that nothing earlier could come");
  if (trust.relies_on_buffering)
    sentences.emplace_back("relies on buffering: it would deadlock if large sends waited");
  return sentences;
}

std::string doubts_text(const Trust& trust, const std::string& label) {
  std::string text;
  for (const std::string& sentence : doubts(trust)) text += label + sentence + "\n";
  return text;
}

std::string trust_object(const Trust& trust) {
  JsonObject object;
  object.number("active_ranks", trust.active_ranks);
  object.number("events", trust.events);
  object.number("clock_mismatches", trust.clock_mismatches);
  object.number("order_inversions", trust.order_inversions);
  object.number("forced_decisions", trust.forced_decisions);
  object.truth("relies_on_buffering", trust.relies_on_buffering);
  object.number("cores", trust.cores);
  return object.inner();
}

}  // namespace nplus1::report
