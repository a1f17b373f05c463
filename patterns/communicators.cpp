#include "patterns/communicators.hpp"

#include <algorithm>

namespace nplus1::patterns {

std::string rank_list(const std::vector<RankId>& ranks) {
  std::string text;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t end = first + 1;
    while (end < ranks.size() && ranks[end].value == ranks[end - 1].value + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(ranks[first].value);
    if (end - first > 1) text += (end - first > 2 ? "-" : ",") + std::to_string(ranks[end - 1].value);
    first = end;
  }
  return text;
}

Communicators::Communicators(std::size_t ranks) {
  events::Communicator world;
  for (std::size_t r = 0; r < ranks; ++r) world.members.emplace_back(static_cast<std::int32_t>(r));
  define(world);
}

void Communicators::define(const events::Communicator& communicator) {
  const std::size_t index = communicator.id.index();
  if (places_.size() <= index) places_.resize(index + 1);
  const auto next = static_cast<std::uint32_t>(definitions_.size());
  const auto [known, is_new] = known_.try_emplace({communicator.members, communicator.first_group}, next);
  if (is_new) definitions_.push_back(communicator);
  places_[index].definition = known->second;
}

const events::Communicator* Communicators::definition(CommId id) const {
  if (id.index() >= places_.size() || places_[id.index()].definition == kNone) return nullptr;
  return &definitions_[places_[id.index()].definition];
}

Communicators::Use* Communicators::first_use(CommId id) {
  if (definition(id) == nullptr) return nullptr;
  if (uses_.size() == kMostCommunicatorsCounted) give_up_half();
  places_[id.index()].use = static_cast<std::uint32_t>(uses_.size());
  return &uses_.emplace_back(Use{.id = id});
}

void Communicators::give_up_half() {
  const auto middle = uses_.begin() + static_cast<std::ptrdiff_t>(uses_.size() / 2);
  std::nth_element(uses_.begin(), middle, uses_.end(),
                   [](const Use& a, const Use& b) { return a.time > b.time; });
  for (auto use = middle; use != uses_.end(); ++use) places_[use->id.index()].use = kNone;
  given_up_ += static_cast<std::uint64_t>(uses_.end() - middle);
  uses_.erase(middle, uses_.end());
  for (std::size_t i = 0; i < uses_.size(); ++i)
    places_[uses_[i].id.index()].use = static_cast<std::uint32_t>(i);
}

std::uint32_t Communicators::size(CommId id) const {
  const events::Communicator* known = definition(id);
  return known == nullptr ? 0 : static_cast<std::uint32_t>(known->members.size());
}

std::vector<CommunicatorUse> Communicators::uses(std::uint64_t& left_out) const {
  std::vector<Use> used = uses_;
  std::ranges::sort(used, {}, [](const Use& u) { return u.id; });
  left_out = given_up_ + used.size() - std::min(used.size(), kMostCommunicators);
  if (used.size() > kMostCommunicators) {
    std::ranges::stable_sort(used, std::ranges::greater{}, &Use::time);
    used.resize(kMostCommunicators);
  }
  std::vector<CommunicatorUse> uses;
  for (const Use& u : used) {
    const events::Communicator& known = *definition(u.id);
    uses.push_back({u.id.value, static_cast<std::uint32_t>(known.members.size()),
                    static_cast<std::uint32_t>(known.first_group), rank_list(known.members), u.messages,
                    u.bytes, u.collective_calls, u.time, u.waiting});
  }
  return uses;
}

}  // namespace nplus1::patterns
