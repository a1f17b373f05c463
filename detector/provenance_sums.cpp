// The part of the replay that follows values which are combined: which sent value is made of which received
// ones.
#include <algorithm>
#include <bit>

#include "detector/provenance.hpp"

namespace nplus1::detector {

std::optional<std::uint32_t> Provenance::combine(State& state, std::size_t member, const Transfer& t) {
  std::vector<std::uint32_t> arrived;
  for (const std::uint32_t o : state.arrived)
    if (origins_[o].bytes == t.content.bytes && origins_[o].content.hashed()) arrived.push_back(o);
  const bool own = state.own && origins_[*state.own].bytes == t.content.bytes;
  std::vector<std::vector<std::uint32_t>> attempts;
  if (own && !arrived.empty()) {
    attempts.push_back(arrived);
    attempts.back().push_back(*state.own);
    if (arrived.size() > 1) attempts.push_back({arrived.back(), *state.own});
  }
  if (arrived.size() > 1) attempts.push_back(arrived);
  for (const auto& operands : attempts) {
    std::vector<Content> contents;
    for (const std::uint32_t o : operands) contents.push_back(origins_[o].content);
    const Operations operations = combinations(t.content, contents);
    if (operations == 0) continue;
    Members all(ranks_.size());
    bool sound = true;
    for (const std::uint32_t o : operands) {
      const Members its = contributors(origins_[o]);
      sound = sound && disjoint(all, its);
      unite(all, its);
    }
    if (!sound) continue;
    const std::uint32_t result = add_origin(member, t.content, t.source_place());
    origins_[result].contributors = all;
    origins_[result].operations = operations;
    if (all[member])
      state.includes_own = Own::kIncluded;
    else if (state.first_own_send != 0 && state.includes_own == Own::kUnknown)
      state.includes_own = Own::kLeftOut;
    return result;
  }
  return std::nullopt;
}

std::optional<events::Residue> Provenance::polynomial_of(std::span<const Segment> segments) const {
  events::Residue value;
  for (const Segment& s : segments) {
    if (s.origin == kGap) return std::nullopt;
    const Origin& origin = origins_[s.origin];
    const std::uint64_t element = origin.content.element;
    if (s.offset != 0 || s.length != origin.bytes || element == 0 ||
        (origin.content.known & events::kHasElements) == 0)
      return std::nullopt;
    value = events::hash_concatenated(value, events::Residue{origin.content.polynomial}, s.length / element);
  }
  return value;
}

/// Piece by piece, which must be of the same lengths.
bool Provenance::are_disjoint(std::span<const Segment> a, std::span<const Segment> b) const {
  return std::ranges::equal(a, b, [&](const Segment& x, const Segment& y) {
    return x.length == y.length &&
           disjoint(contributors(origins_[x.origin]), contributors(origins_[y.origin]));
  });
}

/// Notes that the message was added to what lies at `address`, piece by piece. False if that is not all
/// known.
bool Provenance::add_to_memory(State& state, std::size_t member, std::uint64_t address,
                               std::span<const Segment> message) {
  std::uint64_t bytes = 0;
  for (const Segment& s : message) bytes += s.length;
  const auto own = covering(state, address, bytes);
  if (!own || !polynomial_of(own->segments) || !are_disjoint(own->segments, message)) return false;
  for (std::size_t i = 0; i < message.size(); ++i) {
    const Origin& a = origins_[own->segments[i].origin];
    const Origin& b = origins_[message[i].origin];
    Content sum;
    sum.bytes = a.bytes;
    sum.element = a.content.element;
    sum.information = std::max(a.content.information, b.content.information);
    sum.known = events::kHasElements | events::kHasPolynomial;
    sum.polynomial = (events::Residue{a.content.polynomial} + events::Residue{b.content.polynomial}).value();
    Members both = contributors(a);
    unite(both, contributors(b));
    const std::uint32_t result = add_origin(member, sum, address);
    origins_[result].contributors = std::move(both);
    origins_[result].operations = only(Operation::kSum);
    store(state, address, {{result, 0, sum.bytes}}, sum);
    address += sum.bytes;
  }
  return true;
}

/// What is sent, if it is what lay there plus (part of) a message that came since; pieces of a vector each on
/// their own.
std::optional<std::vector<Segment>> Provenance::accumulate(State& state, std::size_t member,
                                                           const Transfer& t) {
  const auto own = covering(state, t.source_place(), t.content.bytes);
  const auto before = own ? polynomial_of(own->segments) : std::nullopt;
  if (!before || (t.content.known & events::kHasElements) == 0) return std::nullopt;
  for (auto message = state.addends.rbegin(); message != state.addends.rend(); ++message) {
    std::uint64_t offset = 0;
    for (std::size_t first = 0; first < message->size(); offset += (*message)[first++].length) {
      if (message->size() - first < own->segments.size()) break;
      const auto part = std::span{*message}.subspan(first, own->segments.size());
      const auto added = polynomial_of(part);
      if (!added || (*before + *added).value() != t.content.polynomial || !are_disjoint(own->segments, part))
        continue;
      const std::vector<Segment> whole = *message;
      if (!add_to_memory(state, member, t.source_place() - offset, whole) &&
          !add_to_memory(state, member, t.source_place(), part))
        continue;
      const auto used = std::next(message).base();
      state.arrivals.erase(state.arrivals.begin() + (used - state.addends.begin()));
      state.addends.erase(used);
      state.includes_own = Own::kIncluded;
      return covering(state, t.source_place(), t.content.bytes)->segments;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Provenance::completed_block(std::size_t member) const {
  const State& state = states_[member];
  std::optional<std::uint64_t> bytes;
  std::uint64_t own = 0;
  for (const Origin& o : origins_)
    if (o.operations == 0 && o.ranks.front() == member) own += o.bytes;
  for (const std::vector<Segment>& message : state.addends) {
    const auto whole = whole_origin(message);
    if (!whole) continue;
    const Origin& last = origins_[*whole];
    Members missing = contributors(last);
    missing.flip();
    const bool completes = std::ranges::any_of(state.memory, [&](const auto& piece) {
      const Segment& s = piece.second.segment;
      return s.length == last.bytes && s.offset == 0 && contributors(origins_[s.origin]) == missing;
    });
    if (!completes) continue;
    if (bytes) return std::nullopt;
    bytes = last.bytes;
  }
  // Each contributes to the blocks of all.
  if (bytes && own < *bytes * (ranks_.size() - 1)) return std::nullopt;
  return bytes;
}

std::optional<Members> Provenance::combined(std::size_t member) const {
  const State& state = states_[member];
  Members result(ranks_.size());
  result[member] = true;
  if (state.own) result = contributors(origins_[*state.own]);
  for (const std::uint32_t o : state.arrived) {
    if (state.own && origins_[o].bytes != origins_[*state.own].bytes) continue;
    // A result that comes back whole contains what is here already.
    const Members its = contributors(origins_[o]);
    if (std::ranges::count(its, true) == static_cast<std::ptrdiff_t>(ranks_.size())) {
      result = its;
      continue;
    }
    if (!disjoint(result, its)) return std::nullopt;
    unite(result, its);
  }
  return result;
}

std::optional<Operation> Provenance::operation() const {
  auto fitting = static_cast<Operations>(~0U);
  bool any = false;
  for (const Origin& origin : origins_) {
    if (origin.operations == 0) continue;
    fitting &= origin.operations;
    any = true;
  }
  if (!any || !std::has_single_bit(fitting)) return std::nullopt;
  return static_cast<Operation>(std::countr_zero(fitting));
}

}  // namespace nplus1::detector
