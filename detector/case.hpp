// What the judges of verdict.cpp and reductions.cpp look at: some transfers, and where their data came from
// and went. Pure; one thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "detector/verdict.hpp"

namespace nplus1::detector {

using Judge = std::optional<Verdict>;

/// All that the single judges look at.
struct Case {
  const Transfers& transfers;
  std::span<const TransferIndex> list;
  const Provenance& data;
  std::span<const TransferIndex> kept = {};   // blocks that ranks seem to keep between those that they sent
  std::span<const TransferIndex> alike = {};  // messages of the same lines

  [[nodiscard]] const Transfer& at(std::size_t i) const { return transfers.all[list[i]]; }
  [[nodiscard]] std::size_t members() const { return data.ranks().size(); }
  [[nodiscard]] bool is_origin(std::size_t member, const Origin& o) const {
    return std::ranges::find(o.ranks, member) != o.ranks.end();
  }
  [[nodiscard]] bool has(std::size_t member, std::uint32_t o) const {
    return data.held(member, o) == data.origins()[o].bytes;
  }
  [[nodiscard]] bool has_all(std::size_t member) const {
    for (std::uint32_t o = 0; o < data.origins().size(); ++o)
      if (data.origins()[o].sent && !has(member, o)) return false;
    return true;
  }
  [[nodiscard]] bool has_all_of_others(std::size_t member) const {
    for (std::uint32_t o = 0; o < data.origins().size(); ++o) {
      const Origin& origin = data.origins()[o];
      if (origin.sent && !is_origin(member, origin) && !has(member, o)) return false;
    }
    return true;
  }
  [[nodiscard]] Verdict verdict(CollectiveKind kind, std::uint64_t bytes) const {
    Verdict v;
    v.kind = kind;
    v.ranks = data.ranks();
    v.bytes = bytes;
    v.proof = data.proof(list);
    for (const Origin& o : data.origins())
      if (o.sent && o.content.hashed()) v.payload ^= o.content.key();
    if (data.unproved() > 0) {
      v.certainty = Certainty::kProbable;
      v.evidence.push_back(
          std::to_string(data.unproved()) +
          " messages hold parts whose content was never seen alone: addresses say where they came from");
    }
    return v;
  }
};

/// Sends and receives in their causal order: place, twice the position in the list, plus one for the receive.
inline std::vector<std::pair<std::uint32_t, std::size_t>> halves_of(const Case& c) {
  std::vector<std::pair<std::uint32_t, std::size_t>> halves;
  for (std::size_t i = 0; i < c.list.size(); ++i) {
    halves.emplace_back(c.at(i).sent_at, 2 * i);
    halves.emplace_back(c.at(i).received_at, 2 * i + 1);
  }
  std::ranges::sort(halves);
  return halves;
}

/// Without captured parts.
inline std::size_t messages_of_others(const Case& c) {
  return static_cast<std::size_t>(
      std::ranges::count_if(c.list, [&](TransferIndex i) { return !c.transfers.all[i].captured(); }));
}

inline std::uint64_t longest_message(const Case& c) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < c.list.size(); ++i)
    if (!c.at(i).captured()) bytes = std::max(bytes, c.at(i).content.bytes);
  return bytes;
}

inline double log2_of_factorial(std::size_t n) {
  return std::lgamma(static_cast<double>(n) + 1) / std::log(2.0);
}

}  // namespace nplus1::detector
