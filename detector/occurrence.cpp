#include "detector/occurrence.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace nplus1::detector {

std::vector<Message> messages_of(std::span<const Transfer* const> transfers) {
  std::vector<Message> messages;
  std::vector<std::pair<std::uint32_t, std::size_t>>
      ends;  // place, twice the message, plus one for the receive
  for (const Transfer* t : transfers) {
    ends.emplace_back(t->sent_at, 2 * messages.size());
    ends.emplace_back(t->received_at, 2 * messages.size() + 1);
    messages.push_back({t->source, t->destination, t->content.bytes, t->send_ordinal, 0});
  }
  std::ranges::sort(ends);
  std::unordered_map<std::int32_t, std::uint32_t> next;  // step of each rank
  for (const auto& [place, end] : ends) {
    Message& m = messages[end / 2];
    if (end % 2 == 0)
      m.step = next[m.source]++;
    else
      next[m.destination] = std::max(next[m.destination], m.step + 1);
  }
  return messages;
}

}  // namespace nplus1::detector
