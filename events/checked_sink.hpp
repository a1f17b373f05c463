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

#include "events/limits.hpp"
#include "events/sink.hpp"

namespace nplus1::events {

/// All bytes of a file together stay below this, so that no sum of them, or of what algorithms pass on, overflows.
inline constexpr std::uint64_t kMostBytesInAll = std::uint64_t{1} << 58U;
/// Messages of a sender to a receiver, and calls of a rank: what is derived from them stays exact.
inline constexpr std::uint64_t kMostInOrder = std::uint64_t{1} << 40U;

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

/// For sets of kinds.
[[nodiscard]] constexpr std::uint64_t bit_of(EventKind kind) {
  return std::uint64_t{1} << static_cast<unsigned>(kind);
}

/// Nearly every event of a file is a message's or a completion's, and within all bounds: that is told here by
/// arithmetic without a branch for each bound. Whatever is not so plain goes through the checks one by one, which know
/// what else is allowed, and what to say of what is not.
class CheckedSink final : public EventSink {
 public:
  /// `file_bytes`: what the claims are measured by.
  /// `everybody`: the events of all ranks will come, not those of some.
  CheckedSink(std::int32_t ranks, std::uint64_t file_bytes, EventSink& sink, bool everybody = true);

  void on_event(const TimedEvent& event) override {
    if (is_plain(event)) [[likely]]
      bytes_ += is_one_of(kSends, event.event.kind) ? static_cast<std::uint64_t>(event.event.size) : 0;
    else if (!holds(event))
      return;
    ++events_;
    sink_.on_event(event);
  }
  void on_match(RankId receiver, const Answer& match) override {
    if (!is_plain(receiver, match) && !holds(receiver, match)) return;
    ++matches_;
    sink_.on_match(receiver, match);
  }
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

  using Bits = std::uint64_t;
  static constexpr Bits kSends = bit_of(EventKind::kSend) | bit_of(EventKind::kIsend);
  static constexpr Bits kReceives = bit_of(EventKind::kRecv) | bit_of(EventKind::kIrecv) |
                                    bit_of(EventKind::kProbe) | bit_of(EventKind::kIprobe);
  static constexpr Bits kCompletes = bit_of(EventKind::kWait) | bit_of(EventKind::kTest);
  static constexpr bool is_one_of(Bits kinds, EventKind kind) {
    return kind <= EventKind::kOutcome && (kinds & bit_of(kind)) != 0;
  }

  // Numbers whose highest bit is set where something is not plain. Some that are barely allowed are not.
  static constexpr Bits negative(std::int64_t value) { return static_cast<Bits>(value); }
  static constexpr Bits not_within(std::int64_t low, std::int64_t value, std::int64_t high) {
    return negative(value - low) | negative(high - value);  // of numbers that are not large
  }
  static constexpr Bits no_time(std::int64_t ps) {
    return static_cast<Bits>(ps) + static_cast<Bits>(kLatest);
  }
  static constexpr Bits no_size(std::int64_t size) {
    return static_cast<Bits>(size) | (static_cast<Bits>(kMostBytes) - 1 - static_cast<Bits>(size));
  }
  static constexpr Bits no_number(std::uint64_t number) { return number | (kMostInOrder - number); }
  static constexpr Bits above(std::uint64_t highest, std::uint64_t id) { return highest - id; }
  static constexpr bool none(Bits bits) { return bits >> 63U == 0; }

  [[nodiscard]] Bits not_plain(const Answer& answer) const {
    return not_within(kProcNull.value, answer.source, ranks_ - 1) | no_size(answer.size) |
           no_number(answer.sequence) | no_time(answer.exit_ps);
  }
  [[nodiscard]] bool is_plain(RankId receiver, const Answer& match) const {
    return none(not_plain(match) | not_within(0, receiver.value, ranks_ - 1) |
                not_within(0, match.source, ranks_ - 1) | above(0, match.thread.value)) &&
           !trouble_;
  }
  [[nodiscard]] Bits not_plain_message(const TimedEvent& event) const {
    const Event& e = event.event;
    const bool sends = is_one_of(kSends, e.kind);
    const auto last_mode = static_cast<std::uint8_t>(SendMode::kReady);
    return not_within(sends ? 0 : kProcNull.value, e.peer, ranks_ - 1) |
           above(sends ? last_mode : 0xffU, e.operation) | above(0, event.completed.size()) |
           above(kMostBytesInAll - bytes_, sends ? static_cast<Bits>(e.size) : 0);
  }
  [[nodiscard]] static Bits not_plain_completion(const TimedEvent& event) {
    const std::size_t words = event.extension.words.size();
    const auto last_mode = static_cast<std::uint8_t>(CompletionMode::kSome);
    return above(event.event.aux, words) | above(words, event.event.aux) |
           above(last_mode, event.event.operation) | above(0, event.completed.size()) |
           not_within(-1, event.answer.index, static_cast<std::int64_t>(words));
  }
  [[nodiscard]] bool is_plain(const TimedEvent& event) const {
    const Event& e = event.event;
    const bool completes = is_one_of(kCompletes, e.kind);
    if (!completes && !is_one_of(kSends | kReceives, e.kind)) return false;
    const std::int64_t exit = event.exit.time_since_epoch().count();
    Bits bits = completes ? not_plain_completion(event) : not_plain_message(event);
    bits |= not_within(0, event.rank.value, ranks_ - 1) | no_size(e.size) | no_number(event.ordinal);
    bits |=
        above(highest_.comm, e.comm.value) | above(highest_.site, e.site.value) | above(0, e.thread.value);
    bits |= no_time(e.entry_ps) | no_time(e.compute_ps) | no_time(exit) |
            (static_cast<Bits>(exit) - static_cast<Bits>(e.entry_ps));
    bits |= not_plain(event.answer);
    if (event.detail != nullptr) {
      const bool whole = (event.detail->content & kHasPayload) != 0;
      bits |= above(highest_.datatype, event.detail->datatype.value) |
              (whole ? above(kExcerptBytes, static_cast<Bits>(e.size)) : 0);
    }
    return none(bits) && !trouble_;
  }
  /// The same, and all else that is allowed.
  bool holds(const TimedEvent& event);
  bool holds(RankId receiver, const Answer& match);

  [[nodiscard]] bool is_rank(std::int64_t rank) const { return rank >= 0 && rank < ranks_; }
  [[nodiscard]] bool is_peer(const Event& event) const;
  bool check_ids(const TimedEvent& event);
  bool check_times(const TimedEvent& event);
  bool check_answer(const Answer& answer);
  bool check_lists(const TimedEvent& event);
  bool check_requests(const TimedEvent& event);
  bool check_collective(const TimedEvent& event);
  bool check_access(const TimedEvent& event);
  bool check_one_sided(const TimedEvent& event);
  bool check_file(const TimedEvent& event);
  bool join(Members& members, std::size_t me);
  bool check_root(const Event& event, const Members& members, std::int32_t me);
  bool check_sizes(const TimedEvent& event, const Members& members, std::int32_t me);
  bool check_neighbours(std::span<const std::uint32_t> words, std::uint32_t members);
  bool check_detail(const TimedEvent& event);
  Members* members_of(CommId comm);
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
  CommId last_comm_;  // looked up
  Members* last_members_ = nullptr;
};

}  // namespace nplus1::events
