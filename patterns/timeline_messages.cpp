#include "patterns/timeline_messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "events/limits.hpp"

namespace nplus1::patterns {
namespace {

// The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

}  // namespace

std::uint64_t spread(const MessageKey& key) {
  const auto ends =
      static_cast<std::uint64_t>(key.source.value) << 32U | static_cast<std::uint32_t>(key.destination.value);
  return mixed(mixed(ends + 0x9e3779b97f4a7c15U) + key.sequence);
}

TimelineMessages::TimelineMessages(std::size_t budget, Time begin, Time end)
    : budget_{budget}, begin_{begin}, end_{end} {}

bool TimelineMessages::sampled(const MessageKey& key) const {
  return (spread(key) & (one_in_ - 1)) == 0;
}

void TimelineMessages::sent(const MessageKey& key, Time at, Bytes size) {
  ++total_;
  if (sampled(key)) join(key, {at, size, true});
}

void TimelineMessages::received(const MessageKey& key, Time at) {
  if (sampled(key)) join(key, {at, {}, false});
}

void TimelineMessages::join(const MessageKey& key, const Half& half) {
  const auto [place, is_first] = open_.try_emplace(key, half);
  if (is_first) {
    if (open_.size() > budget_) thin_out();
    return;
  }
  const Half other = place->second;
  if (other.is_send == half.is_send) return;
  open_.erase(place);
  const Half &send = half.is_send ? half : other, &receive = half.is_send ? other : half;
  keep({key, send.at, receive.at, send.size});
}

void TimelineMessages::keep(const Message& message) {
  if (message.received < begin_ || message.sent > end_) return;
  messages_.push_back(message);
  if (messages_.size() > budget_) thin_out();
}

void TimelineMessages::thin_out() {
  one_in_ *= 2;
  std::erase_if(messages_, [&](const Message& m) { return !sampled(m.key); });
  std::erase_if(open_, [&](const auto& entry) { return !sampled(entry.first); });
}

std::string TimelineMessages::json_member() const {
  std::string text = fmt::format("  \"messages\": {{\"sent\": {}, \"one_in\": {}, \"shown\": {}", total_,
                                 one_in_, messages_.size());
  const auto column = [&](const char* name, auto number) {
    fmt::format_to(std::back_inserter(text), ",\n    \"{}\": [", name);
    const char* separator = "";
    for (const Message& message : messages_) {
      fmt::format_to(std::back_inserter(text), "{}{}", separator, number(message));
      separator = ",";
    }
    text += ']';
  };
  column("source", [](const Message& m) { return m.key.source.value; });
  column("destination", [](const Message& m) { return m.key.destination.value; });
  column("sent_ps", [](const Message& m) { return m.sent.time_since_epoch().count(); });
  column("flight_ps", [](const Message& m) {
    return events::difference_within(m.received.time_since_epoch(), m.sent.time_since_epoch()).count();
  });
  column("bytes", [](const Message& m) { return count(m.size); });
  return text + "}";
}

}  // namespace nplus1::patterns
