#include "patterns/communicators.hpp"

#include <algorithm>

namespace nplus1::patterns {
namespace {

CommunicatorUse use(const Communicators::Entry& e) {
  return {e.definition.id.value,
          static_cast<std::uint32_t>(e.definition.members.size()),
          static_cast<std::uint32_t>(e.definition.first_group),
          rank_list(e.definition.members),
          e.messages,
          e.bytes,
          e.collective_calls,
          e.time,
          e.waiting};
}

}  // namespace

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

Communicators::Communicators(std::size_t ranks) : entries_(1) {
  for (std::size_t r = 0; r < ranks; ++r)
    entries_[0].definition.members.emplace_back(static_cast<std::int32_t>(r));
}

void Communicators::define(const events::Communicator& communicator) {
  const std::size_t index = communicator.id.index();
  if (entries_.size() <= index) entries_.resize(index + 1);
  entries_[index].definition = communicator;
}

std::uint32_t Communicators::size(CommId id) const {
  return id.index() < entries_.size()
             ? static_cast<std::uint32_t>(entries_[id.index()].definition.members.size())
             : 0;
}

std::vector<CommunicatorUse> Communicators::uses(std::uint64_t& left_out) const {
  std::vector<const Entry*> used;
  for (const Entry& e : entries_)
    if (e.calls > 0) used.push_back(&e);
  left_out = used.size() - std::min(used.size(), kMostCommunicators);
  if (left_out > 0) {
    std::stable_sort(used.begin(), used.end(),
                     [](const Entry* a, const Entry* b) { return a->time > b->time; });
    used.resize(kMostCommunicators);
  }
  std::vector<CommunicatorUse> uses;
  for (const Entry* e : used) uses.push_back(use(*e));
  return uses;
}

}  // namespace nplus1::patterns
