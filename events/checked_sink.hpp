// Stands between whoever reads a file (a recording, or another format) and whoever takes its events: lets through
// what a run could have produced, and remembers the first thing that it could not. Analyses index arrays by rank,
// communicator, region and thread, add sizes, and follow lists, so a claim that the file does not bear out must end
// here. docs/formats/events.md, "What a reader checks", is the list. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/sink.hpp"

namespace nplus1::events {

/// No message, vector or list entry is larger: more bytes than a process can address.
inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 47U;
/// Times and durations in picoseconds lie within this, which leaves room for adding a few: 53 days.
inline constexpr std::int64_t kLatest = std::int64_t{1} << 62U;

/// How many ranks a file of so many bytes may say it has. The first are free, because a recording that was cut short
/// may be tiny; of more ranks, each has left at least a byte.
[[nodiscard]] constexpr std::int64_t most_ranks(std::uint64_t file_bytes) {
  constexpr std::int64_t kFree = 1 << 16U;
  constexpr std::int64_t kMost = 1 << 24U;
  if (file_bytes <= kFree) return kFree;
  return file_bytes < kMost ? static_cast<std::int64_t>(file_bytes) : kMost;
}

/// Numbers that others make arrays of: ids, threads, members. Together they may ask for so much and no more, so that
/// memory follows the file's size.
class ClaimBudget {
 public:
  static constexpr std::uint64_t kFree = 1U << 22U;
  explicit ClaimBudget(std::uint64_t file_bytes) : left_{kFree + kPerByte * file_bytes} {}
  /// False once it is used up.
  [[nodiscard]] bool take(std::uint64_t amount) {
    if (amount > left_) return false;
    left_ -= amount;
    return true;
  }

 private:
  static constexpr std::uint64_t kPerByte = 64;  // definitions of communicators that are alike compress well
  std::uint64_t left_;
};

class CheckedSink : public EventSink {
 public:
  /// `file_bytes`: what the claims are measured by.
  /// `everybody`: the events of all ranks will come, not those of some.
  CheckedSink(std::int32_t ranks, std::uint64_t file_bytes, EventSink& sink, bool everybody = true);

  void on_event(const TimedEvent& event) override;
  void on_match(RankId receiver, const Answer& match) override;
  void on_communicator(const Communicator& communicator) override;
  void on_call_path(const CallPath& path) override;
  void on_region(const Region& region) override;
  void on_datatype(const Datatype& datatype) override;

  /// What was wrong first; from then on nothing was let through.
  [[nodiscard]] const std::optional<std::string>& trouble() const { return trouble_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t matches() const { return matches_; }

 private:
  struct Members {
    bool everybody = false;  // ranks 0, 1, 2 ...: `sorted` is left empty
    std::uint32_t size = 0;
    std::uint32_t first_group = 0;
    std::vector<std::pair<std::int32_t, std::uint32_t>> sorted;  // world rank, index
    std::uint64_t most_calls = 0;                                // of collectives, by any member
    std::vector<std::uint64_t> calls;                            // by each, once there is one
  };
  struct Highest {
    std::uint64_t comm = 0, site = 0, region = 0, datatype = 0;
  };

  bool demand(bool holds, const char* what, std::int64_t value) {
    if (holds && !trouble_) [[likely]]
      return true;
    return fail(holds, what, value);
  }
  bool fail(bool holds, const char* what, std::int64_t value);
  /// Ids are dense: the highest of a kind costs what lies between it and the one before.
  bool claim(std::uint64_t& highest, std::uint64_t id, const char* what);
  bool claim_thread(RankId rank, ThreadId thread);
  bool add_bytes(std::int64_t size, std::uint64_t times);

  [[nodiscard]] bool is_rank(std::int64_t rank) const { return rank >= 0 && rank < ranks_; }
  [[nodiscard]] bool is_peer(const Event& event) const;
  bool check_ids(const TimedEvent& event);
  bool check_times(const TimedEvent& event);
  bool check_answer(const Answer& answer);
  bool check_lists(const TimedEvent& event);
  bool check_requests(const TimedEvent& event);
  bool check_collective(const TimedEvent& event);
  bool check_access(const TimedEvent& event);
  bool join(Members& members, std::size_t me);
  bool check_root(const Event& event, const Members& members, std::int32_t me);
  bool check_sizes(const TimedEvent& event, const Members& members, std::int32_t me);
  bool check_neighbours(std::span<const std::uint32_t> words, std::uint32_t members);
  bool check_detail(const TimedEvent& event);
  [[nodiscard]] std::int32_t index_of(const Members& members, RankId rank) const;

  std::int32_t ranks_;
  EventSink& sink_;
  bool everybody_;
  ClaimBudget budget_;
  std::uint64_t most_not_joined_;
  std::uint64_t not_joined_ = 0;  // calls of collectives that members have yet to make
  std::optional<std::string> trouble_;
  std::uint64_t events_ = 0;
  std::uint64_t matches_ = 0;
  std::uint64_t bytes_ = 0;  // of all messages and collectives
  Highest highest_;
  std::vector<std::uint16_t> threads_;  // the highest of each rank; grows with the ranks seen
  std::unordered_map<std::uint32_t, Members> communicators_;
};

}  // namespace nplus1::events
