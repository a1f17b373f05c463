// What the analysis of overlap keeps of a recording: each rank's calls in their order, its messages with both ends
// of their requests, and what touched their buffers (docs/formats/events.md, "Accesses").
//
// A sink; feed it the whole stream in the order of each rank's process (hypothesis/transform/rank_order.hpp). Memory:
// some 50 bytes for each call and 250 for each end of a message. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "events/definitions_collector.hpp"
#include "events/sink.hpp"

namespace nplus1::overlap {

inline constexpr std::uint64_t kNoOrdinal = ~std::uint64_t{0};

using events::Toucher;

struct Touch {
  std::uint64_t ordinal = kNoOrdinal;  // of the access in its rank's stream; kNoOrdinal: nothing touched it
  std::int64_t at_ps = 0;              // virtual
  std::int64_t offset = 0;             // bytes into the buffer
  std::uint32_t site = 0;
  ThreadId thread{};
  Toucher by{};
  bool inexact = false;  // only the page is known
  bool write = false;

  [[nodiscard]] bool known() const { return ordinal != kNoOrdinal; }
};

/// A call, pause or access of a thread. Times are the recording's.
struct Moment {
  std::uint64_t ordinal = 0;
  std::int64_t entry_ps = 0, exit_ps = 0, compute_ps = 0;
  events::EventKind kind{};
  std::uint8_t operation = 0;
  std::uint16_t call = 0;
  std::uint32_t site = 0;
  std::uint32_t comm = 0;
  ThreadId thread{};
  std::int32_t peer = 0, tag = 0;  // of probes
};

/// How a message's call is waited for.
enum class Waited : std::uint8_t {
  kInTheCall,  // MPI_Send, MPI_Recv; both halves of MPI_Sendrecv
  kAll,        // MPI_Wait, MPI_Waitall
  kOtherwise,  // Waitany, tests, never: where it is waited for follows what came out
};

/// One end of a message: a send or a receive of one rank.
struct MessageEnd {
  events::Event event;  // its call
  std::uint64_t ordinal = 0;
  std::uint64_t completed = kNoOrdinal;  // ordinal of what completes it; its own, where it blocks
  Waited waited = Waited::kOtherwise;
  std::uint32_t datatype = 0;
  std::uint64_t buffer = 0;  // address of its lowest byte; 0: not known
  std::int64_t end_ps = 0;   // when the call that completes it returned
  events::Answer answer;     // of a receive: its message
  std::optional<std::int64_t>
      untouched_ps;          // how long before the call, in the thread's time, the last access was
  Touch first;               // first access behind it that must wait for it
  Touch status;              // first use of its status
  std::vector<Touch> early;  // accesses between post and wait: races

  [[nodiscard]] bool receives() const {
    return event.kind == events::EventKind::kRecv || event.kind == events::EventKind::kIrecv;
  }
  [[nodiscard]] bool to_nobody() const { return event.peer_rank() == kProcNull; }
  [[nodiscard]] bool from_anybody() const;
  /// Whether the recording saw all that was done with the buffer from the call on. Memory that cannot be watched counts as
  /// touched in the call itself; a page that was no longer looked at, as touched from then on.
  [[nodiscard]] bool is_watched() const;
  [[nodiscard]] bool blocks() const { return waited == Waited::kInTheCall; }
};

/// Why an end cannot be started earlier or waited for later; empty if it can. For people.
[[nodiscard]] const char* not_deferrable(const MessageEnd& end);

/// Memory that a message or a collective operation used, as far as the recording knows it: its hull.
struct Use {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t ordinal = 0;  // of the call
  bool writes = false;
};

struct SurveyedRank {
  std::vector<Moment> moments;                        // by ordinal
  std::vector<Use> uses;                              // by ordinal
  std::vector<MessageEnd> ends;                       // by ordinal
  std::vector<std::vector<std::uint32_t>> of_thread;  // places in `moments`

  /// In its place, also where later ones are known. False: this one is known.
  bool add(const Moment& moment);
  [[nodiscard]] const Moment* moment(std::uint64_t ordinal) const;
  [[nodiscard]] MessageEnd* end(std::uint64_t ordinal);
};

class Survey final : public events::EventSink {
 public:
  explicit Survey(std::size_t ranks) : ranks_(ranks), open_(ranks), untouched_(ranks) {}

  void on_event(const events::TimedEvent& event) override;
  void on_match(RankId receiver, const events::Answer& match) override;
  void on_communicator(const events::Communicator& c) override { names_.on_communicator(c); }
  void on_call_path(const events::CallPath& p) override { names_.on_call_path(p); }
  void on_region(const events::Region& r) override { names_.on_region(r); }
  void on_datatype(const events::Datatype& d) override { names_.on_datatype(d); }

  [[nodiscard]] const std::vector<SurveyedRank>& ranks() const { return ranks_; }
  [[nodiscard]] const events::DefinitionsCollector& names() const { return names_; }
  /// Accesses that were in the stream.
  [[nodiscard]] std::uint64_t accesses() const { return accesses_; }

 private:
  void message(const events::TimedEvent& event);
  void completion(const events::TimedEvent& event);
  void access(const events::TimedEvent& event);
  void use(const events::TimedEvent& event, std::int64_t size, bool writes);

  std::vector<SurveyedRank> ranks_;
  std::vector<std::unordered_map<std::uint32_t, std::size_t>> open_;  // by rank: request: place in `ends`
  std::vector<std::unordered_map<std::uint64_t, std::int64_t>> untouched_;  // by rank: of calls to come
  events::DefinitionsCollector names_;
  std::uint64_t accesses_ = 0;
};

}  // namespace nplus1::overlap
