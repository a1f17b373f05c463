// The algorithms' functions and what they share. Private to netmodel/collectives.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "netmodel/collectives/schedule.hpp"
#include "netmodel/collectives/selection.hpp"

namespace nplus1::netmodel::algorithms {

#define NPLUS1_ALGORITHM(kind, name, function) \
  void function(const CollectiveCall& call, std::vector<Step>& steps);
#include "netmodel/collectives/algorithms.inc"
#undef NPLUS1_ALGORITHM

/// What MPICH 4.0.2 would take: the table of blocking collectives, and the other one.
[[nodiscard]] AppendFunction mpich_choice(const CollectiveCall& call);
[[nodiscard]] AppendFunction mpich_nonblocking_choice(const CollectiveCall& call);
/// What Open MPI 4.1.4 would take: coll/tuned and coll/basic, and coll/libnbc.
[[nodiscard]] AppendFunction openmpi_choice(const CollectiveCall& call);
[[nodiscard]] AppendFunction libnbc_choice(const CollectiveCall& call);
/// What SimGrid 3.32's SMPI takes by default, blocking or not.
[[nodiscard]] AppendFunction simgrid_choice(const CollectiveCall& call);
/// A collective between the two groups of an intercommunicator; its parts within a group by `selection`.
void append_between_groups(const CollectiveCall& call, const Selection& selection, std::vector<Step>& steps);
/// Runs Open MPI's choice for `call` as a part of another collective.
void append_openmpi(const CollectiveCall& call, std::vector<Step>& steps);

/// What the last step receives is combined with what the member has.
inline void combine(std::vector<Step>& steps) {
  steps.back().combines = true;
}

inline void send(std::vector<Step>& steps, std::int32_t to, std::int64_t size) {
  steps.push_back({to, kNoMember, bytes(size)});
}
inline void receive(std::vector<Step>& steps, std::int32_t from) {
  steps.push_back({kNoMember, from, Bytes{}});
}
inline void receive_and_combine(std::vector<Step>& steps, std::int32_t from) {
  receive(steps, from);
  combine(steps);
}
inline void exchange(std::vector<Step>& steps, std::int32_t to, std::int64_t size, std::int32_t from) {
  steps.push_back({to, from, bytes(size)});
}

/// The steps from `first` on are started at once and waited for together.
inline void join_from(std::vector<Step>& steps, std::size_t first) {
  for (std::size_t i = first + 1; i < steps.size(); ++i) steps[i].joins = true;
}

/// The same where both sides know which blocks are empty: no message for `size` 0, none awaited for
/// kNoMember.
inline void exchange_unless_empty(std::vector<Step>& steps, std::int32_t to, std::int64_t size,
                                  std::int32_t from) {
  const std::int32_t destination = size > 0 ? to : kNoMember;
  if (destination != kNoMember || from != kNoMember) exchange(steps, destination, size, from);
}

[[nodiscard]] constexpr bool power_of_two(std::int32_t n) {
  return std::has_single_bit(static_cast<std::uint32_t>(n));
}
[[nodiscard]] constexpr std::int32_t floor_power_of_two(std::int32_t n) {
  return static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(n)));
}
[[nodiscard]] constexpr std::int32_t ceil_power_of_two(std::int32_t n) {
  return static_cast<std::int32_t>(std::bit_ceil(static_cast<std::uint32_t>(n)));
}

/// What a vector of `total` bytes in all is cut into where an algorithm asks for pieces of `wanted`: larger ones where
/// there would be more than 65,536 of them. The work then follows the number of calls and not the sizes that they
/// name, and the time differs by less than a piece in so many.
[[nodiscard]] constexpr std::int64_t piece_of(std::int64_t total, std::int64_t wanted) {
  constexpr std::int64_t kMostPieces = 65536;
  return std::max({std::int64_t{1}, wanted, (total + kMostPieces - 1) / kMostPieces});
}

/// Members counted from the root, so that trees can be written for root 0.
struct Relative {
  std::int32_t members;
  std::int32_t root;

  [[nodiscard]] std::int32_t of(std::int32_t member) const {
    return member >= root ? member - root : member - root + members;
  }
  [[nodiscard]] std::int32_t member(std::int32_t relative) const {
    const std::int32_t m = relative + root;
    return m >= members ? m - members : m;
  }
};

/// The member `distance` (at most `members`) after and before `me` on the ring.
[[nodiscard]] inline std::int32_t after(const CollectiveCall& call, std::int32_t distance) {
  return Relative{call.members, call.me}.member(distance);
}
[[nodiscard]] inline std::int32_t before(const CollectiveCall& call, std::int32_t distance) {
  return call.me >= distance ? call.me - distance : call.me - distance + call.members;
}

/// The blocks of a call, one per member: block `i` has sizes[i] bytes, or all have the same size.
class Blocks {
 public:
  explicit Blocks(const CollectiveCall& call)
      : sizes_{call.sizes}, each_{count(call.size)}, members_{call.members} {}

  [[nodiscard]] std::int64_t of(std::int32_t block) const {
    return sizes_.empty() ? each_ : sizes_[static_cast<std::size_t>(block)];
  }
  /// Of blocks first, first+1, ..., last-1.
  [[nodiscard]] std::int64_t range(std::int32_t first, std::int32_t last) const;
  /// Of `blocks` blocks from `first` on, going round after the last.
  [[nodiscard]] std::int64_t cyclic(std::int32_t first, std::int32_t blocks) const;
  [[nodiscard]] std::int64_t total() const { return range(0, members_); }

 private:
  std::span<const std::int64_t> sizes_;
  std::int64_t each_;
  std::int32_t members_;
};

/// What MPICH counts in elements is counted in these: doubles, unless the size can't be.
inline constexpr std::int64_t kElement = 8;
[[nodiscard]] constexpr std::int64_t element_size(std::int64_t size) {
  return size % kElement == 0 ? kElement : 1;
}

/// Who gets the elements that are left when a vector is cut into equal parts.
enum class Rest : std::uint8_t {
  kFirst,  // one each, the first parts
  kLast,   // all, the last part
};

/// A vector of `size` bytes cut into parts of whole elements.
class EvenParts {
 public:
  EvenParts(std::int64_t size, std::int32_t parts, Rest rest = Rest::kFirst)
      : element_{element_size(size)},
        each_{size / element_ / parts},
        rest_{size / element_ % parts},
        last_{parts},
        to_{rest} {}

  /// The bytes of parts first..last-1.
  [[nodiscard]] std::int64_t range(std::int32_t first, std::int32_t last) const {
    return offset(last) - offset(first);
  }

 private:
  [[nodiscard]] std::int64_t offset(std::int32_t part) const {
    const std::int64_t before = to_ == Rest::kFirst ? std::min<std::int64_t>(part, rest_)
                                : part == last_     ? rest_
                                                    : 0;
    return element_ * (each_ * part + before);
  }

  std::int64_t element_;
  std::int64_t each_;
  std::int64_t rest_;  // elements
  std::int32_t last_;
  Rest to_;
};

/// How an algorithm for powers of two runs on any number of members: of the first 2*extra members, one of
/// each pair sits out (hands over its part before, gets the result after); the others number themselves
/// 0..core-1.
struct Fold {
  enum class Out : std::int32_t { kEven = 0, kOdd = 1 };  // which of a pair sits out

  Fold(std::int32_t members, Out sits_out)
      : core{floor_power_of_two(members)}, extra{members - core}, out{static_cast<std::int32_t>(sits_out)} {}

  [[nodiscard]] bool paired(std::int32_t member) const { return member < 2 * extra; }
  [[nodiscard]] bool sits_out(std::int32_t member) const { return paired(member) && member % 2 == out; }
  [[nodiscard]] static std::int32_t partner(std::int32_t member) { return member ^ 1; }
  /// Number of a member that takes part, and the member with that number.
  [[nodiscard]] std::int32_t number(std::int32_t member) const {
    return paired(member) ? member / 2 : member - extra;
  }
  [[nodiscard]] std::int32_t member(std::int32_t number) const {
    return number < extra ? 2 * number + (1 - out) : number + extra;
  }
  /// First member whose block number `number` looks after; `core` gives the number of members.
  [[nodiscard]] std::int32_t first_block(std::int32_t number) const {
    return number < extra ? 2 * number : number + extra;
  }

  std::int32_t core;
  std::int32_t extra;
  std::int32_t out;
};

/// The parts that number `number` still has after exchanging over the bits of `core` below `bit`, in
/// recursive halving that starts with the neighbour (Rabenseifner).
struct Half {
  std::int32_t first;
  std::int32_t last;
};
[[nodiscard]] Half halved(std::int32_t number, std::int32_t bit, std::int32_t core);

}  // namespace nplus1::netmodel::algorithms
