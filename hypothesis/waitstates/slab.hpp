// What is under way, by small numbers: memory follows how much of it is open at a time. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nplus1::hypothesis {

/// Things that are under way, by small numbers that are used again. References hold until the next take().
template <class T>
class Slab {
 public:
  std::uint32_t take() {
    if (free_.empty()) {
      items_.emplace_back();
      return static_cast<std::uint32_t>(items_.size() - 1);
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    return place;
  }
  void give(std::uint32_t place) {
    items_[place] = T{};
    free_.push_back(place);
  }
  [[nodiscard]] T& operator[](std::uint32_t place) { return items_[place]; }
  [[nodiscard]] std::size_t in_use() const { return items_.size() - free_.size(); }
  [[nodiscard]] std::size_t places() const { return items_.size(); }

 private:
  std::vector<T> items_;
  std::vector<std::uint32_t> free_;
};

}  // namespace nplus1::hypothesis
