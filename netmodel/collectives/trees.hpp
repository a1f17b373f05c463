// Trees that vectors travel down (Bcast) or up (Reduce), and the two walks. Members are numbered from the
// root, so every tree stands on number 0. Private to netmodel/collectives.
#pragma once

#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {

/// One after the other.
struct ChainTree {
  std::int32_t members;

  [[nodiscard]] static std::int32_t parent(std::int32_t number) { return number - 1; }
  template <class Visit>
  void each_child(std::int32_t number, Visit visit) const {
    if (number + 1 < members) visit(number + 1);
  }
};

/// Complete binary tree, level by level: the children of a level with n members stand n and 2n further.
struct BinaryTree {
  std::int32_t members;

  [[nodiscard]] static std::int32_t level_size(std::int32_t number) { return floor_power_of_two(number + 1); }
  [[nodiscard]] static std::int32_t parent(std::int32_t number) {
    if (number == 0) return kNoMember;
    const std::int32_t above = level_size(number) / 2;
    return number - above < 2 * above - 1 ? number - above : number - 2 * above;
  }
  template <class Visit>
  void each_child(std::int32_t number, Visit visit) const {
    const std::int32_t step = level_size(number);
    for (std::int32_t child = number + step; child <= number + 2 * step; child += step) {
      if (child < members) visit(child);
    }
  }
};

/// Binomial tree in which a parent lacks its child's highest bit; nearest child first.
struct HighBitTree {
  std::int32_t members;

  [[nodiscard]] static std::int32_t parent(std::int32_t number) {
    return number == 0 ? kNoMember : number - floor_power_of_two(number);
  }
  template <class Visit>
  void each_child(std::int32_t number, Visit visit) const {
    std::int32_t bit = number == 0 ? 1 : 2 * floor_power_of_two(number);
    for (; number + bit < members; bit *= 2) visit(number + bit);
  }
};

/// Binomial tree with `radix` - 1 children on each level, of which the number's lowest digit is the own one.
struct KnomialTree {
  std::int32_t members;
  std::int32_t radix;

  /// The place value of the lowest digit that is not 0; of the first beyond all members for the root.
  [[nodiscard]] std::int32_t digit(std::int32_t number) const {
    std::int32_t place = 1;
    while (place < members && number % (radix * place) == 0) place *= radix;
    return place;
  }
  [[nodiscard]] std::int32_t parent(std::int32_t number) const {
    const std::int32_t above = radix * digit(number);
    return number == 0 ? kNoMember : number / above * above;
  }
  template <class Visit>
  void each_child(std::int32_t number, Visit visit) const {
    for (std::int32_t place = digit(number) / radix; place > 0; place /= radix) {
      for (std::int32_t i = 1; i < radix; ++i) {
        if (number + i * place < members) visit(number + i * place);
      }
    }
  }
};

/// Receive from above, then send to all below.
template <class Tree>
void down(const Tree& tree, const CollectiveCall& call, std::int64_t size, std::vector<Step>& steps) {
  const Relative relative{call.members, call.root};
  const std::int32_t me = relative.of(call.me);
  if (me != 0) receive(steps, relative.member(tree.parent(me)));
  tree.each_child(me, [&](std::int32_t child) { send(steps, relative.member(child), size); });
}

/// Receive from all below, then send to above.
template <class Tree>
void up(const Tree& tree, const CollectiveCall& call, std::int64_t size, std::vector<Step>& steps) {
  const Relative relative{call.members, call.root};
  const std::int32_t me = relative.of(call.me);
  tree.each_child(me, [&](std::int32_t child) { receive_and_combine(steps, relative.member(child)); });
  if (me != 0) send(steps, relative.member(tree.parent(me)), size);
}

}  // namespace nplus1::netmodel::algorithms
