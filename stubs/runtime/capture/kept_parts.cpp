#include "stubs/runtime/capture/kept_parts.hpp"

#include <algorithm>
#include <cstdlib>

namespace nplus1::stubs {
namespace {

constexpr unsigned kMostInVain = 3;
/// Looks that are free; afterwards one in kWorthwhile must have shown something.
constexpr std::uint64_t kFreeLooks = 64;
constexpr std::uint64_t kWorthwhile = 4;

bool overlap(const KeptParts::Data& a, const KeptParts::Data& b) {
  return a.address < b.address + b.bytes && b.address < a.address + a.bytes;
}

std::int64_t distance(std::uint64_t from, std::uint64_t to) {
  return static_cast<std::int64_t>(to - from);
}

}  // namespace

bool KeptParts::continues(std::uint64_t comm, int peer, const Data& block) {
  if (run_.count == 0 || run_.comm != comm || run_.first.bytes != block.bytes ||
      run_.first.datatype != block.datatype || run_.seen[static_cast<std::size_t>(peer)])
    return false;
  const std::int64_t moved = distance(run_.first.address, block.address);
  const std::int64_t steps = peer - run_.first_peer;
  if (run_.count > 1) return moved == steps * run_.stride;
  if (moved % steps != 0 || static_cast<std::uint64_t>(std::abs(moved / steps)) < block.bytes) return false;
  run_.stride = moved / steps;
  return true;
}

void KeptParts::start(std::uint64_t comm, int members, int peer, const Data& block) {
  run_.comm = comm;
  run_.first_peer = peer;
  run_.first = block;
  run_.seen.assign(static_cast<std::size_t>(members), false);
  run_.count = 0;
  run_.below = run_.above = false;
}

std::optional<std::uint64_t> KeptParts::block_sent(std::uint64_t comm, int me, int members, int peer,
                                                   const Data& block) {
  if (peer < 0 || peer >= members || peer == me || block.bytes == 0) {
    run_.count = 0;
    return std::nullopt;
  }
  if (!continues(comm, peer, block)) start(comm, members, peer, block);
  run_.seen[static_cast<std::size_t>(peer)] = true;
  ++run_.count;
  run_.below = run_.below || peer < me;
  run_.above = run_.above || peer > me;
  if (run_.count != members - 1) return std::nullopt;
  run_.count = 0;
  if (!run_.below || !run_.above) return std::nullopt;
  return run_.first.address + static_cast<std::uint64_t>((me - run_.first_peer) * run_.stride);
}

void KeptParts::sent(const Data& data, std::uint64_t content) {
  Place* place = std::find_if(places_.begin(), places_.end(), [&](const Place& p) { return p.data == data; });
  if (place == places_.end()) {
    place = std::min_element(places_.begin(), places_.end(),
                             [](const Place& a, const Place& b) { return a.used < b.used; });
    *place = {};
    place->data = data;
  } else if (place->looked) {
    const bool changed = *place->looked != content;
    place->in_vain = changed ? 0 : place->in_vain + 1;
    found_ += changed ? 1U : 0U;
  }
  place->sent = content;
  place->looked.reset();
  place->armed = true;
  place->used = ++clock_;
}

bool KeptParts::is_worth(const Place& place, const Data& received) const {
  return place.armed && place.data.bytes == received.bytes && place.data.datatype == received.datatype &&
         place.in_vain < kMostInVain && looks_ < kFreeLooks + kWorthwhile * found_ &&
         !overlap(place.data, received);
}

bool KeptParts::judge(Place& place, std::optional<std::uint64_t> found) {
  if (!found || *found == place.sent) {
    ++place.in_vain;
    return false;
  }
  place.looked = found;
  return true;
}

}  // namespace nplus1::stubs
