// The transfers of a list by their payloads: equal contents next to each other, in the order of the list. Pure.
#pragma once

#include <boost/sort/spreadsort/integer_sort.hpp>
#include <cstdint>
#include <tuple>
#include <vector>

namespace nplus1::detector {

struct KeyedTransfer {
  std::uint64_t key;  // Content::key()
  std::uint32_t transfer;
  std::uint32_t group;  // free for whoever sorts
};

inline void sort_by_payload(std::vector<KeyedTransfer>& list) {
  boost::sort::spreadsort::integer_sort(
      list.begin(), list.end(), [](const KeyedTransfer& p, unsigned bits) { return p.key >> bits; },
      [](const KeyedTransfer& a, const KeyedTransfer& b) {
        return std::tie(a.key, a.transfer) < std::tie(b.key, b.transfer);
      });
}

}  // namespace nplus1::detector
