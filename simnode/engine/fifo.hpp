// A queue that takes no memory while it has never been used: there may be very many of them. Private to the engine.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace nplus1::simnode::engine {

template <class T>
class Fifo {
 public:
  [[nodiscard]] bool empty() const { return first_ == items_.size(); }
  [[nodiscard]] std::size_t size() const { return items_.size() - first_; }
  [[nodiscard]] T& operator[](std::size_t i) { return items_[first_ + i]; }
  [[nodiscard]] T& front() { return items_[first_]; }
  [[nodiscard]] auto begin() const { return items_.begin() + static_cast<std::ptrdiff_t>(first_); }
  [[nodiscard]] auto end() const { return items_.end(); }

  void push_back(T item) { items_.push_back(std::move(item)); }
  /// Moves the others up once as many have gone as are left: each is moved about once.
  void pop_front() {
    ++first_;
    if (2 * first_ < items_.size()) return;
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }

 private:
  std::vector<T> items_;
  std::size_t first_ = 0;
};

}  // namespace nplus1::simnode::engine
