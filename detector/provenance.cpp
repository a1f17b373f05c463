#include "detector/provenance.hpp"

#include <algorithm>
#include <stdexcept>

namespace nplus1::detector {

void ByteRanges::add(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  auto first = std::ranges::lower_bound(ranges_, begin, {}, &Range::end);
  auto last = first;
  for (; last != ranges_.end() && last->begin <= end; ++last) {
    begin = std::min(begin, last->begin);
    end = std::max(end, last->end);
  }
  ranges_.insert(ranges_.erase(first, last), {begin, end});
}

void ByteRanges::remove(std::uint64_t begin, std::uint64_t end) {
  for (auto r = std::ranges::upper_bound(ranges_, begin, {}, &Range::end);
       r != ranges_.end() && r->begin < end;) {
    const Range old = *r;
    r = ranges_.erase(r);
    if (old.begin < begin) r = std::next(ranges_.insert(r, {old.begin, begin}));
    if (old.end > end) r = std::next(ranges_.insert(r, {end, old.end}));
  }
}

std::uint64_t ByteRanges::bytes() const {
  std::uint64_t sum = 0;
  for (const Range& r : ranges_) sum += r.end - r.begin;
  return sum;
}

bool disjoint(const Members& a, const Members& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] && b[i]) return false;
  return true;
}

void unite(Members& into, const Members& from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = into[i] || from[i];
}

Provenance::Provenance(const Transfers& transfers, std::span<const TransferIndex> list)
    : transfers_{transfers} {
  for (const TransferIndex i : list) {
    ranks_.push_back(transfers.all[i].source);
    ranks_.push_back(transfers.all[i].destination);
  }
  std::ranges::sort(ranks_);
  ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
  restart(list.size());
  play(list);
  if (!unsure_ && parts_.empty() && !has_lengths_of_parts(list)) return;
  // Again: payloads that were seen in parts are taken for these, and for the others addresses have to do.
  addresses_vouch_ = true;
  for (State& state : states_) fresh_.push_back(std::move(state.fresh));
  restart(list.size());
  play(list);
}

/// Whether some message is longer than another one of the same rank: it may be made of it, or be a part of it, in a
/// buffer that says nothing.
bool Provenance::has_lengths_of_parts(std::span<const TransferIndex> list) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> came(ranks_.size(), {~std::uint64_t{0}, 0});
  for (const TransferIndex i : list) {
    const Transfer& t = transfers_.all[i];
    if (t.captured() || t.content.bytes == 0) continue;
    auto& [shortest, longest] = came[member(t.destination)];
    shortest = std::min(shortest, t.content.bytes);
    longest = std::max(longest, t.content.bytes);
  }
  return std::ranges::any_of(list, [&](TransferIndex i) {
    const Transfer& t = transfers_.all[i];
    const auto& [shortest, longest] = came[member(t.source)];
    return !t.captured() && t.content.bytes > 0 && (t.content.bytes < longest || t.content.bytes > shortest);
  });
}

void Provenance::restart(std::size_t messages) {
  states_.assign(ranks_.size(), {});
  messages_.assign(messages, {});
  by_address_.assign(messages, false);
  agreement_.assign(messages, 0);
  origins_.clear();
  origin_of_.clear();
  unproved_ = 0;
}

std::size_t Provenance::member(std::int32_t rank) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(ranks_, rank) - ranks_.begin());
}

void Provenance::play(std::span<const TransferIndex> list) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> halves;  // place, twice the position in the list
  halves.reserve(2 * list.size());
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    halves.emplace_back(transfers_.all[list[i]].sent_at, 2 * i);
    halves.emplace_back(transfers_.all[list[i]].received_at, 2 * i + 1);
  }
  std::ranges::sort(halves);
  for (const auto& [place, half] : halves) {
    const Transfer& t = transfers_.all[list[half / 2]];
    if (t.captured()) {
      if (half % 2 == 0) capture(t);
    } else if (half % 2 == 0) {
      send(t, messages_[half / 2]);
    } else {
      receive(t, messages_[half / 2]);
    }
  }
}

std::uint32_t Provenance::add_origin(std::size_t member, const Content& content, std::uint64_t buffer) {
  const auto fresh = static_cast<std::uint32_t>(origins_.size());
  if (content.hashed()) {
    const auto [place, first] = origin_of_.try_emplace(content.key(), fresh);
    if (!first) {
      auto& ranks = origins_[place->second].ranks;
      if (std::ranges::find(ranks, member) == ranks.end()) ranks.push_back(member);
      return place->second;
    }
  }
  Origin& origin = origins_.emplace_back();
  origin.content = content;
  origin.ranks = {member};
  origin.buffer = buffer;
  origin.bytes = content.bytes;
  return fresh;
}

Members Provenance::contributors(const Origin& origin) const {
  if (!origin.contributors.empty()) return origin.contributors;
  Members only(ranks_.size());
  only[origin.ranks.front()] = true;
  return only;
}

std::optional<std::uint32_t> Provenance::whole_origin(const std::vector<Segment>& segments) const {
  if (segments.size() != 1) return std::nullopt;
  const Segment& s = segments.front();
  if (s.offset != 0 || s.length != origins_[s.origin].bytes) return std::nullopt;
  return s.origin;
}

bool Provenance::is_origin_itself(const std::vector<Segment>& segments, const Content& content) const {
  const auto whole = whole_origin(segments);
  if (!whole) return false;
  const auto found = origin_of_.find(content.key());
  return found != origin_of_.end() && found->second == *whole;
}

/// The same bytes that the member has sent or received before: mostly an origin, else as they were put together then.
std::optional<std::vector<Segment>> Provenance::recognised(const State& state, std::size_t member,
                                                           const Content& content) const {
  if (const auto known = state.known.find(content.key()); known != state.known.end()) return known->second;
  const auto found = origin_of_.find(content.key());
  if (found == origin_of_.end()) return std::nullopt;
  const Origin& origin = origins_[found->second];
  if (std::ranges::find(origin.ranks, member) == origin.ranks.end() &&
      held(member, found->second) != origin.bytes)
    return std::nullopt;
  return std::vector<Segment>{{found->second, 0, origin.bytes}};
}

void Provenance::store(State& state, std::uint64_t address, const std::vector<Segment>& segments,
                       const Content& whole) {
  if (whole.hashed() && !is_origin_itself(segments, whole)) state.known[whole.key()] = segments;
  if (segments.size() > 1 && parts_.contains(whole.key()))
    for (const Segment& s : segments) state.known[origins_[s.origin].content.key()] = {s};
  if (address == 0 || whole.bytes == 0) return;
  // Make room: what was there is overwritten, its rest stays without a hash.
  const std::uint64_t end = address + whole.bytes;
  auto next = state.memory.lower_bound(address);
  if (next != state.memory.begin() && std::prev(next)->second.end > address) --next;
  while (next != state.memory.end() && next->first < end) {
    const std::uint64_t begin = next->first;
    const Piece old = next->second;
    next = state.memory.erase(next);
    if (begin < address)
      state.memory[begin] = {address, {old.segment.origin, old.segment.offset, address - begin}, {}};
    if (old.end > end)
      state.memory[end] = {
          old.end, {old.segment.origin, old.segment.offset + (end - begin), old.end - end}, {}};
  }
  for (const Segment& s : segments) {
    std::optional<std::uint32_t> crc;
    const Origin& origin = origins_[s.origin];
    if (segments.size() == 1 && whole.has_crc())
      crc = whole.crc;
    else if (origin.content.has_crc() && s.length == origin.bytes)
      crc = origin.content.crc;
    state.memory[address] = {address + s.length, s, crc};
    address += s.length;
  }
}

std::optional<Provenance::Cover> Provenance::covering(const State& state, std::uint64_t begin,
                                                      std::uint64_t bytes) const {
  if (begin == 0) return std::nullopt;
  Cover cover;
  cover.crc = 0;
  const std::uint64_t end = begin + bytes;
  auto next = state.memory.upper_bound(begin);
  if (next != state.memory.begin() && std::prev(next)->second.end > begin) --next;
  std::uint64_t at = begin;
  const auto gap_until = [&](std::uint64_t until) {
    if (until <= at) return;
    cover.segments.push_back({kGap, at, until - at});
    cover.gaps = true;
    cover.crc.reset();
    at = until;
  };
  for (; next != state.memory.end() && next->first < end; ++next) {
    gap_until(next->first);
    const Piece& piece = next->second;
    const std::uint64_t skip = at - next->first;
    const std::uint64_t length = std::min(piece.end, end) - at;
    const bool whole = skip == 0 && length == piece.end - next->first;
    cover.segments.push_back({piece.segment.origin, piece.segment.offset + skip, length});
    if (cover.crc && whole && piece.crc)
      cover.crc = crc_concatenated(*cover.crc, *piece.crc, length);
    else
      cover.crc.reset();
    at += length;
  }
  if (cover.segments.empty()) return std::nullopt;
  gap_until(end);
  return cover;
}

std::vector<Segment> Provenance::in_parts(std::size_t member, const Transfer& t) {
  std::vector<Segment> segments;
  std::uint64_t at = t.source_place();
  // Parts have parts themselves where data are handed on in halves.
  const auto add = [&](const auto& again, const Content& whole) -> void {
    for (const Content& part : parts_.at(whole.key())) {
      if (parts_.contains(part.key())) {
        again(again, part);
        continue;
      }
      segments.push_back({add_origin(member, part, at), 0, part.bytes});
      at += part.bytes;
    }
  };
  add(add, t.content);
  return segments;
}

bool Provenance::is_made_of(const Origin& whole, std::span<const Segment> parts) const {
  std::uint64_t bytes = 0;
  for (const Segment& s : parts) bytes += s.length;
  if (bytes != whole.bytes || !whole.content.has_crc() ||
      origins_[parts.front().origin].content.prefix != whole.content.prefix)
    return false;
  std::uint32_t crc = 0;
  for (const Segment& s : parts) crc = crc_concatenated(crc, origins_[s.origin].content.crc, s.length);
  return crc == whole.content.crc;
}

void Provenance::note_whole(State& state, std::uint32_t origin) {
  constexpr std::size_t kMostWholes = 40;  // a panel, its halves and its pieces, of some 32 ranks
  if (std::ranges::find(state.wholes, origin) != state.wholes.end()) return;
  if (state.wholes.size() == kMostWholes) state.wholes.erase(state.wholes.begin());
  state.wholes.push_back(origin);
}

/// Whether what lies around the message that has just arrived is a payload that its origin has also sent whole.
void Provenance::look_for_parts(const State& state, const Transfer& t, const std::vector<Segment>& message) {
  const auto arrived = whole_origin(message);
  if (!arrived || t.destination_buffer == 0) return;
  const std::size_t root = origins_[*arrived].ranks.front();
  for (const std::uint32_t w : states_[root].wholes) {
    const Origin& whole = origins_[w];
    if (whole.bytes <= t.content.bytes || parts_.contains(whole.content.key())) continue;
    // Pieces that could be its first, backwards; from each of them forwards.
    auto first = state.memory.find(t.destination_buffer);
    for (;; --first) {
      const Origin& head = origins_[first->second.segment.origin];
      if (head.content.prefix == whole.content.prefix) {
        std::vector<Segment> parts;
        std::uint64_t at = first->first;
        for (auto p = first; p != state.memory.end() && p->first == at && at < first->first + whole.bytes;
             ++p) {
          const Origin& origin = origins_[p->second.segment.origin];
          if (!origin.content.has_crc() || p->second.segment.length != origin.bytes) break;
          parts.push_back(p->second.segment);
          at = p->second.end;
        }
        if (!parts.empty() && parts.size() > 1 && is_made_of(whole, parts)) {
          auto& contents = parts_[whole.content.key()];
          for (const Segment& s : parts) contents.push_back(origins_[s.origin].content);
          break;
        }
      }
      if (first == state.memory.begin() || std::prev(first)->second.end != first->first ||
          t.destination_buffer - std::prev(first)->first >= whole.bytes)
        break;
    }
  }
}

/// Whether the content contradicts that it begins with the origin's first bytes.
bool Provenance::begins_otherwise(const Segment& first, const Content& content) const {
  if (first.origin == kGap || first.offset != 0 ||
      std::min(first.length, content.bytes) < sizeof(content.prefix))
    return false;
  const Content& known = origins_[first.origin].content;
  return (known.known & content.known & events::kHasPrefix) != 0 && known.prefix != content.prefix;
}

/// Known bytes with others around them, or part of known ones: the addresses say so, no hash can. Where the hash of
/// all bytes is known and differs, or new data went out from there at that time, they were overwritten.
bool Provenance::is_trusted(State& state, const Cover& cover, std::size_t member, const Transfer& t) {
  const bool foreign = std::ranges::any_of(cover.segments, [&](const Segment& s) {
    return s.origin != kGap &&
           std::ranges::find(origins_[s.origin].ranks, member) == origins_[s.origin].ranks.end();
  });
  if (cover.crc || (cover.gaps && !foreign)) return false;
  const bool otherwise = std::ranges::any_of(cover.segments, [&](const Segment& s) {
    return cover.segments.size() == 1 && s.origin != kGap &&
           !agreement(origins_[s.origin].content, s.offset, t.content);
  });
  if (otherwise) {
    state.fresh.emplace_back(state.last_foreign, t.sent_at);
    return false;
  }
  if (begins_otherwise(cover.segments.front(), t.content)) {
    state.fresh.emplace_back(state.last_foreign, t.sent_at);
    return false;
  }
  unsure_ = true;
  return addresses_vouch_ && std::ranges::none_of(fresh_[member], [&](const auto& burst) {
           return burst.first < t.sent_at && state.last_foreign <= burst.second;
         });
}

/// Whether the content is what lies there, by all hashes that are known of both: CRCs alone collide.
bool Provenance::holds(const Cover& cover, const Content& content) const {
  if (*cover.crc != content.crc || begins_otherwise(cover.segments.front(), content)) return false;
  if (const auto whole = whole_origin(cover.segments);
      whole && origins_[*whole].content.known == content.known)
    return origins_[*whole].content == content;
  const auto polynomial =
      (content.known & events::kHasElements) != 0 ? polynomial_of(cover.segments) : std::nullopt;
  return !polynomial || polynomial->value() == content.polynomial;
}

/// Bits of single elements that show what only addresses say: a part of something known, or something known as a part.
double Provenance::agreement_of(const Cover& cover, const Content& content) const {
  double bits = 0;
  std::uint64_t at = 0;
  for (const Segment& s : cover.segments) {
    if (s.origin != kGap) {
      const Origin& origin = origins_[s.origin];
      if (cover.segments.size() == 1)
        bits += agreement(origin.content, s.offset, content).value_or(0);
      else if (s.offset == 0 && s.length == origin.bytes)
        bits += agreement(content, at, origin.content).value_or(0);
    }
    at += s.length;
  }
  return bits;
}

std::vector<Segment> Provenance::explain(State& state, std::size_t member, const Transfer& t) {
  if (t.content.hashed())
    if (auto known = recognised(state, member, t.content)) return std::move(*known);
  const auto cover = covering(state, t.source_place(), t.content.bytes);
  if (cover && cover->crc && holds(*cover, t.content)) return cover->segments;
  // Part of what the rank has received stays that, also if it came to others in pieces.
  const bool passes_on = cover && !cover->gaps && is_trusted(state, *cover, member, t);
  if (!passes_on && t.content.hashed() && parts_.contains(t.content.key())) return in_parts(member, t);
  if (const auto result = combine(state, member, t)) {
    state.arrived.clear();
    return {{*result, 0, t.content.bytes}};
  }
  if (auto sums = accumulate(state, member, t)) return std::move(*sums);
  // From memory where nothing had come: whatever the rank sends in the same go may be new as well (HPL copies parts of
  // its own panel to where others' panels were).
  if (!cover) state.fresh.emplace_back(state.last_foreign, t.sent_at);
  const bool trusted = cover && is_trusted(state, *cover, member, t);
  if (!trusted && addresses_vouch_) {
    if (auto parts = unpacked(state, t)) return std::move(*parts);
    if (auto parts = packed(state, member, t)) return std::move(*parts);
  }
  if (!trusted) return {{add_origin(member, t.content, t.source_place()), 0, t.content.bytes}};
  ++unproved_;
  agreed_ = agreement_of(*cover, t.content);
  std::vector<Segment> segments = cover->segments;
  for (Segment& s : segments) {
    if (s.origin != kGap) continue;
    Content gap;
    gap.bytes = s.length;
    s = {add_origin(member, gap, s.offset), 0, s.length};
  }
  return segments;
}

namespace {

/// So many bits of single elements show that something is part of something else: as many as make a finding probable. Of
/// 24 random bits fewer are significant once in 2^13.
constexpr double kEnoughToBePart = 14;

/// `bytes` of the data in `segments`, from `offset` on.
std::vector<Segment> piece_of(std::span<const Segment> segments, std::uint64_t offset, std::uint64_t bytes) {
  std::vector<Segment> piece;
  for (const Segment& s : segments) {
    const std::uint64_t skip = std::min(offset, s.length);
    offset -= skip;
    const std::uint64_t length = std::min(s.length - skip, bytes);
    if (length > 0) piece.push_back({s.origin, s.offset + skip, length});
    bytes -= length;
  }
  return piece;
}

}  // namespace

/// What a rank sends from a buffer into which it has copied part of what came: the end of it, or what lies before the
/// part that it sent last (a tree in which each passes on the halves of what is left).
std::optional<std::vector<Segment>> Provenance::unpacked(State& state, const Transfer& t) {
  for (std::size_t i = state.arrivals.size(); i-- > 0;) {
    const Content& whole = state.arrivals[i];
    if (whole.bytes <= t.content.bytes) continue;
    const auto known = state.unpacked.find(whole.key());
    // In any order: the largest part, which is the end, goes first in most trees.
    const std::uint64_t end = known == state.unpacked.end() ? whole.bytes : known->second;
    if (end < t.content.bytes) continue;
    const std::uint64_t offset = end - t.content.bytes;
    const auto bits = agreement(whole, offset, t.content);
    if (!bits || (end == whole.bytes && *bits < kEnoughToBePart)) continue;
    state.unpacked[whole.key()] = offset;
    agreed_ = *bits;
    ++unproved_;
    return piece_of(state.addends[i], offset, t.content.bytes);
  }
  return std::nullopt;
}

/// The rank's own part and what came, one behind the other in a new buffer: a gather up a tree.
std::optional<std::vector<Segment>> Provenance::packed(const State& state, std::size_t member,
                                                       const Transfer& t) {
  std::vector<Segment> segments;
  std::uint64_t at = t.content.bytes;
  for (std::size_t i = state.arrivals.size(); i-- > 0;) {
    const Content& part = state.arrivals[i];
    if (part.bytes == 0 || part.bytes >= at) break;
    const auto bits = agreement(t.content, at - part.bytes, part);
    if (!bits || (segments.empty() && *bits < kEnoughToBePart)) break;
    at -= part.bytes;
    agreed_ += *bits;
    segments.insert(segments.begin(), state.addends[i].begin(), state.addends[i].end());
  }
  if (segments.empty()) return std::nullopt;
  Content own;
  own.bytes = at;
  segments.insert(segments.begin(), {add_origin(member, own, t.source_place()), 0, at});
  ++unproved_;
  return segments;
}

void Provenance::send(const Transfer& t, std::vector<Segment>& message) {
  if (t.content.is_constant()) return;
  const std::size_t m = member(t.source);
  State& state = states_[m];
  const std::size_t unproved = unproved_;
  agreed_ = 0;
  message = explain(state, m, t);
  const auto number = static_cast<std::size_t>(&message - messages_.data());
  by_address_[number] = unproved_ > unproved;
  agreement_[number] = agreed_;
  store(state, t.source_place(), message, t.content);
  for (const Segment& s : message) {
    Origin& origin = origins_[s.origin];
    origin.sent = true;
    state.kept[s.origin].remove(s.offset, s.offset + s.length);
    const bool own = std::ranges::find(origin.ranks, m) != origin.ranks.end();
    if (own && state.first_own_send == 0) state.first_own_send = t.sent_at + 1;
  }
  const auto whole = whole_origin(message);
  const bool own = whole && std::ranges::find(origins_[*whole].ranks, m) != origins_[*whole].ranks.end();
  if (whole) note_whole(state, *whole);
  if (own && state.own != whole) {
    if (origins_[*whole].operations == 0) state.arrived.clear();
    state.own = whole;
  }
}

void Provenance::receive(const Transfer& t, const std::vector<Segment>& message) {
  if (message.empty()) return;
  const std::size_t m = member(t.destination);
  State& state = states_[m];
  store(state, t.destination_buffer, message, t.content);
  if (message.size() == 1) look_for_parts(state, t, message);
  if (const auto whole = whole_origin(message)) note_whole(state, *whole);
  for (const Segment& s : message) {
    const auto& ranks = origins_[s.origin].ranks;
    state.held[s.origin].add(s.offset, s.offset + s.length);
    state.kept[s.origin].add(s.offset, s.offset + s.length);
    if (std::ranges::find(ranks, m) != ranks.end()) continue;
    state.last_foreign = t.received_at;
    if (state.first_receive == 0) state.first_receive = t.received_at + 1;
  }
  state.addends.push_back(message);
  state.arrivals.push_back(t.content);
  if (state.addends.size() > ranks_.size()) {
    state.addends.pop_front();
    state.arrivals.pop_front();
  }
  if (const auto whole = whole_origin(message)) state.arrived.push_back(*whole);
  // More than there are ranks cannot all be in one value.
  if (state.arrived.size() > ranks_.size()) state.arrived.erase(state.arrived.begin());
}

void Provenance::capture(const Transfer& t) {
  const std::size_t m = member(t.source);
  const std::uint32_t origin = add_origin(m, t.content, t.source_place());
  store(states_[m], t.source_place(), {{origin, 0, t.content.bytes}}, t.content);
  states_[m].own = origin;
}

std::uint64_t Provenance::held(std::size_t member, std::uint32_t origin) const {
  const auto found = states_[member].held.find(origin);
  return found == states_[member].held.end() ? 0 : found->second.bytes();
}

std::uint64_t Provenance::kept(std::size_t member) const {
  std::uint64_t sum = 0;
  for (const auto& [origin, ranges] : states_[member].kept) sum += ranges.bytes();
  return sum;
}

double Provenance::proof(std::span<const TransferIndex> list) const {
  constexpr double kOfAnAddress = 8;
  double bits = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Transfer& t = transfers_.all[list[i]];
    if (t.captured() || messages_[i].empty()) continue;
    if (by_address_[i]) {
      bits += kOfAnAddress + agreement_[i];
      continue;
    }
    for (const Segment& s : messages_[i]) bits += origins_[s.origin].content.information;
  }
  for (const Origin& o : origins_)
    if (o.sent && o.operations == 0) bits -= o.content.information;
  return std::max(bits, 0.0);
}

std::size_t Provenance::independent() const {
  return static_cast<std::size_t>(std::ranges::count_if(states_, [](const State& s) {
    return s.first_own_send != 0 && (s.first_receive == 0 || s.first_own_send < s.first_receive);
  }));
}

}  // namespace nplus1::detector
