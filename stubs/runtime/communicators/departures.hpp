// Communicators that the simulator was told of and that nobody in the rank uses any more, neither by a handle nor by a request,
// a window or a file: to be told of, so that the simulator may forget them. With the runtime's lock held. To depart takes no
// memory, so nothing fails.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "support/ids.hpp"

namespace nplus1::stubs {

struct Departure {
  CommId number{};  // on this rank's ring
  std::uint64_t key = 0;
};

class Departures {
 public:
  [[nodiscard]] bool empty() const { return gone_.empty(); }
  /// One of them, which is then told: what departs meanwhile is another.
  [[nodiscard]] Departure take() {
    const Departure gone = gone_.back();
    gone_.pop_back();
    return gone;
  }

 private:
  friend class Known;
  void expect() {
    if (const std::size_t most = gone_.size() + ++known_; most > gone_.capacity()) gone_.reserve(2 * most);
  }
  void add(const Departure& gone) noexcept {
    --known_;
    gone_.push_back(gone);
  }

  std::vector<Departure> gone_;  // has room for all that are known
  std::size_t known_ = 0;
};

/// That the simulator knows of something; departs when it is destroyed.
class Known {
 public:
  Known() = default;
  Known(std::shared_ptr<Departures> departures, Departure what) : what_{what} {
    departures->expect();
    departures_ = std::move(departures);
  }
  Known(Known&& from) noexcept : departures_{std::move(from.departures_)}, what_{from.what_} {}
  Known& operator=(Known&& from) noexcept {
    std::swap(departures_, from.departures_);
    std::swap(what_, from.what_);
    return *this;
  }
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;
  ~Known() {
    if (departures_) departures_->add(what_);
  }

 private:
  std::shared_ptr<Departures> departures_;
  Departure what_;
};

}  // namespace nplus1::stubs
