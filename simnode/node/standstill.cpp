#include "simnode/node/standstill.hpp"

#include <algorithm>

namespace nplus1::simnode::node {

bool Standstill::has_moved(std::span<const Sample> ranks) const {
  return !std::equal(ranks.begin(), ranks.end(), before_.begin(), before_.end(),
                     [](const Sample& a, const Sample& b) {
                       return a.activity == b.activity && a.moves == b.moves && a.over == b.over;
                     });
}

bool Standstill::look(std::span<const Sample> ranks, Instant now) {
  if (!since_ || has_moved(ranks)) {
    before_.assign(ranks.begin(), ranks.end());
    since_ = now;
    return false;
  }
  if (now - *since_ < kLong) return false;
  return std::equal(ranks.begin(), ranks.end(), before_.begin(),
                    [](const Sample& a, const Sample& b) { return a.over || a.looks - b.looks >= kLooks; });
}

}  // namespace nplus1::simnode::node
