// Which lane each run of rows belongs to, and which shape each row has: the columns of structure, where what
// follows what is predicted from the last time. Shared by BlockEncoder and BlockDecoder.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace nplus1::events::recording {

inline constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

/// What followed a number when it last had a follower.
class Successors {
 public:
  void clear() { follower_.clear(); }
  /// `otherwise` if `number` never had a follower.
  [[nodiscard]] std::uint32_t after(std::uint32_t number, std::uint32_t otherwise) const {
    const std::uint32_t found = number < follower_.size() ? follower_[number] : kNobody;
    return found == kNobody ? otherwise : found;
  }
  /// `number` kNobody is ignored: the first has no predecessor.
  void learn(std::uint32_t number, std::uint32_t follower) {
    if (number == kNobody) return;
    if (number >= follower_.size()) follower_.resize(number + std::size_t{1}, kNobody);
    follower_[number] = follower;
  }

 private:
  std::vector<std::uint32_t> follower_;
};

/// Predicts the lane of the next run of rows.
class RunOrder {
 public:
  void clear() {
    next_.clear();
    lane_ = kNobody;
  }
  [[nodiscard]] std::uint32_t predicted() const {
    return lane_ == kNobody ? 0 : next_.after(lane_, lane_ + 1);
  }
  void settle(std::uint32_t lane) {
    next_.learn(lane_, lane);
    lane_ = lane;
  }

 private:
  Successors next_;
  std::uint32_t lane_ = kNobody;
};

/// Predicts the shape of a lane's next row.
class ShapeOrder {
 public:
  void clear() {
    next_.clear();
    last_.clear();
  }
  /// Lanes are numbered in the order of these calls. `from`: the lane of the row before, kNobody if none.
  void add_lane(std::uint32_t from) { last_.push_back(from == kNobody ? kNobody : last_[from]); }
  [[nodiscard]] std::uint32_t predicted(std::uint32_t lane) const {
    const std::uint32_t shape = last_[lane];
    return shape == kNobody ? 0 : next_.after(shape, shape);
  }
  void settle(std::uint32_t lane, std::uint32_t shape) {
    next_.learn(last_[lane], shape);
    last_[lane] = shape;
  }

 private:
  Successors next_;
  std::vector<std::uint32_t> last_;
};

}  // namespace nplus1::events::recording
