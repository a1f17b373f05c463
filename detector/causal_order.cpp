#include "detector/causal_order.hpp"

#include <utility>

namespace nplus1::detector {

CausalOrder::CausalOrder(std::size_t ranks, std::size_t expected) : waiting_(ranks) {
  places_.sent_at.reserve(expected);
  places_.received_at.reserve(expected);
}

bool CausalOrder::place(End end) {
  const std::size_t known = places_.sent_at.size();
  if (end.message >= known) {
    places_.sent_at.resize(end.message + 1, kNowhere);
    places_.received_at.resize(end.message + 1, kNowhere);
  }
  if (end.destination == kReceives) {
    if (places_.sent_at[end.message] == kNowhere) return false;
    places_.received_at[end.message] = clock_++;
    return true;
  }
  places_.sent_at[end.message] = clock_++;
  const auto& other = waiting_[static_cast<std::size_t>(end.destination)];
  if (!other.empty() && other.front().message == end.message) woken_.push_back(end.destination);
  return true;
}

void CausalOrder::resume(std::int32_t rank) {
  woken_.push_back(rank);
  while (!woken_.empty()) {
    auto& ends = waiting_[static_cast<std::size_t>(woken_.back())];
    woken_.pop_back();
    while (!ends.empty() && place(ends.front())) ends.pop_front();
  }
}

void CausalOrder::add(End end, std::int32_t rank) {
  auto& ends = waiting_[static_cast<std::size_t>(rank)];
  if (!ends.empty() || !place(end)) {
    ends.push_back(end);
  } else if (!woken_.empty()) {
    resume(rank);
  }
}

/// Receives whose sends neither have a place nor wait for one.
void CausalOrder::drop_hopeless() {
  std::vector<bool> sends(places_.sent_at.size());
  for (const auto& ends : waiting_)
    for (const End& end : ends) {
      if (end.message >= sends.size()) sends.resize(end.message + 1);
      if (end.destination != kReceives) sends[end.message] = true;
    }
  for (auto& ends : waiting_)
    std::erase_if(ends, [&](const End& end) {
      const bool sent = end.message < places_.sent_at.size() && places_.sent_at[end.message] != kNowhere;
      return end.destination == kReceives && !sent && !sends[end.message];
    });
}

CausalOrder::Places CausalOrder::take(std::size_t messages) {
  drop_hopeless();
  for (std::size_t r = 0; r < waiting_.size(); ++r) resume(static_cast<std::int32_t>(r));
  // What waits now waits in a circle: a recording that contradicts itself.
  places_.sent_at.resize(messages, kNowhere);
  places_.received_at.resize(messages, kNowhere);
  return std::exchange(places_, {});
}

}  // namespace nplus1::detector
