// Which blocking sends and receives of a program, MPI_Sendrecv among them, are exchanges: calls that follow each other at once, with no
// other call and no computing between, so that they might as well be started together and waited for by one
// MPI_Waitall. What follows what at once is a property of the program's text, so it is decided for pairs of
// call paths, by the quickest quarter of their visits: on a busy host others are interrupted. A sink; feed it
// the whole stream. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "events/sink.hpp"
#include "hypothesis/transform/message_survey.hpp"
#include "support/units.hpp"

namespace nplus1::hypothesis::transform {

/// Messages of call paths that belong together: those of one exchange, and those that these calls receive.
struct ExchangeSites {
  std::set<std::uint32_t> sends, receives;  // call paths
  bool safe = false;     // somewhere a call follows a send at once: nothing that is sent can depend on it
  bool assumes = false;  // somewhere a send follows a receive at once: it might send what came of that
};

class ExchangeSurvey final : public events::EventSink {
 public:
  using Found = MessageSurvey::Found;
  /// `found`: told of each message, as MessageSurvey does. `call_interval`: what every call was charged for
  /// the computing before it (`--compute fixed:`), which is none.
  explicit ExchangeSurvey(Duration call_interval = {}, Found found = {})
      : call_interval_{call_interval}, found_{std::move(found)} {}

  void on_event(const events::TimedEvent& event) override;
  void on_match(RankId receiver, const events::Answer& match) override {
    messages_.on_match(receiver, match);
  }
  void finish() { messages_.finish(); }

  /// Whether a call at `second` follows one at `first` with nothing between.
  [[nodiscard]] bool at_once(std::uint32_t first, std::uint32_t second) const;
  /// Whether what `second` sends is what `first` has just received: it cannot be sent earlier.
  [[nodiscard]] bool forwards(std::uint32_t first, std::uint32_t second) const;
  /// All exchanges of the program; after finish().
  [[nodiscard]] std::vector<ExchangeSites> exchanges() const;

 private:
  struct Transition {
    std::uint64_t visits = 0, near = 0;
    std::uint64_t compared = 0, equal = 0;  // contents: received and then sent
    std::uint64_t content = 0;              // of the first that was compared
    bool varies = false;                    // others were compared
    bool send_after_receive = false;        // on some visit; what ranks at an edge do may be another order
    bool other_order = false;               // on some visit
  };
  using Sites = std::pair<std::uint32_t, std::uint32_t>;
  struct Received {
    std::uint64_t ordinal;
    std::uint32_t site;
  };
  /// A thread.
  struct Lane {
    bool blocking = false;  // whether its last call was a blocking send or receive
    bool received = false;
    std::uint32_t site = 0;
    bool half_sends = false;         // an MPI_Sendrecv has begun that sends to somebody
    Duration half_gap{};             // the time before it
    std::vector<Received> receives;  // since the last call of another kind
  };
  struct Sent {
    Sites sites;
    std::uint64_t content;
  };
  using Call = std::pair<std::int32_t, std::uint64_t>;  // rank, ordinal

  void follow(Lane& lane, const events::TimedEvent& event);
  void follow_half(Lane& lane, const events::TimedEvent& event);
  void step(Lane& lane, std::uint32_t site, bool sends, Duration gap);
  void received(Lane& lane, const events::TimedEvent& event);
  void compare(Lane& lane, const events::TimedEvent& event);
  void message(const MessageCalls& m);
  void judge(const Sent& sent, std::uint64_t received);

  Duration call_interval_;
  Found found_;
  MessageSurvey messages_{[this](const MessageCalls& m) { message(m); }};
  std::map<std::pair<std::int32_t, std::uint16_t>, Lane> lanes_;  // by rank and thread
  std::map<Sites, Transition> transitions_;
  std::set<Sites> message_sites_;                 // of messages that block at both ends: send, receive
  std::map<Call, std::uint64_t> contents_;        // of receives that may still be sent on
  std::map<Call, std::vector<Sent>> sent_after_;  // of receives whose content is not known yet
};

/// A send or receive that blocks and has a partner.
[[nodiscard]] bool is_blocking_message(const events::Event& event);
/// A call that neither blocks nor computes: to or from MPI_PROC_NULL, or a note of the recording's.
[[nodiscard]] bool is_nothing(const events::Event& event);

}  // namespace nplus1::hypothesis::transform
