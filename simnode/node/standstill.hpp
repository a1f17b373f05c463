// Whether a job has come to a standstill inside the MPI library: every rank waits there, and nothing has moved for long.
// A rank shows that it waits there by looking for progress again and again in vain (RankBlock::native_polls); one that
// computes, sleeps, reads a terminal or a slow disk, or is stopped, does not look, and is no part of a standstill.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nplus1::simnode::node {

class Standstill {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  /// So long nothing may have moved, and so often each rank must have looked meanwhile: on a busy machine it takes longer.
  static constexpr std::chrono::seconds kLong{5};
  static constexpr std::uint32_t kLooks = 100;

  /// What a rank shows of itself (RankBlock).
  struct Sample {
    std::uint32_t activity = 0;  // changes with each of its calls
    std::uint32_t looks = 0;
    std::uint32_t moves = 0;
    bool over = false;  // it has finalized: nothing comes from it any more

    bool operator==(const Sample&) const = default;
  };

  /// `ranks`: all of them, now.
  [[nodiscard]] bool look(std::span<const Sample> ranks, Instant now);
  /// Something has moved that the samples do not show.
  void reset() { since_.reset(); }

 private:
  [[nodiscard]] bool has_moved(std::span<const Sample> ranks) const;

  std::vector<Sample> before_;
  std::optional<Instant> since_;
};

}  // namespace nplus1::simnode::node
