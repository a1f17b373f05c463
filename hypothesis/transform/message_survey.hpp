// Finds the calls at both ends of every message of a recording: what says that the receive at rank 3 belongs
// to a send that the user named. A sink; feed it the whole stream. Memory: per message that is sent and not
// received, posted and not matched, or matched and not waited for. One thread.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "events/sink.hpp"
#include "hypothesis/transform/selectors.hpp"

namespace nplus1::hypothesis::transform {

/// A message and its calls; ordinals are places in the rank's stream.
struct MessageCalls {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::int32_t source = -1, destination = -1;
  std::uint64_t sequence = 0;
  std::int32_t tag = 0;
  std::uint32_t comm = 0;
  std::int64_t size = 0;
  std::uint32_t send_site = 0, receive_site = 0;
  std::uint64_t sent = kNone;                          // of the send
  std::uint64_t posted = kNone;                        // of the receive
  std::uint64_t completed = kNone;                     // of the call that completes the receive
  std::uint32_t request = 0;                           // of the receive, if it is non-blocking
  std::uint64_t content = 0;                           // of what was sent: content_of()
  Duration computed_sent{}, computed_received{};       // by the rank, before the send and before `completed`
  bool send_blocks = false, receive_blocks = false;    // MPI_Send, MPI_Recv
  bool send_is_half = false, receive_is_half = false;  // of an MPI_Sendrecv
  std::vector<std::uint64_t> probes;  // at the receiver: those that looked for it in vain, and that found it
};

/// Half of an MPI_Sendrecv: it is recorded as MPI_Isend, MPI_Irecv and the wait for both.
[[nodiscard]] bool is_half(const events::Event& event);
/// That wait.
[[nodiscard]] bool is_wait_for_both(const events::Event& event);

/// A number for what a send has sent: equal numbers for equal contents, as far as the recording knows them; 0 if
/// it knows nothing.
[[nodiscard]] std::uint64_t content_of(const events::Event& event, const events::Detail* detail);

class MessageSurvey final : public events::EventSink {
 public:
  using Found = std::function<void(const MessageCalls&)>;
  /// `found`: told of each message once all is known of it; of halves at finish().
  explicit MessageSurvey(Found found) : found_{std::move(found)} {}

  void on_event(const events::TimedEvent& event) override;
  void on_match(RankId receiver, const events::Answer& match) override;
  void finish();

 private:
  struct Key {
    std::int32_t source, destination;
    std::uint64_t sequence;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  /// A probe that found nothing.
  struct Vain {
    std::int32_t source;
    std::int32_t tag;
    std::uint32_t comm;
    std::uint64_t ordinal;
  };
  struct Posted {
    std::uint64_t ordinal = 0;
    std::uint32_t site = 0;
    bool matched = false;
    Key message{};
    bool is_half = false;
  };

  MessageCalls& message(const Key& key);
  [[nodiscard]] Duration computed(std::int32_t rank) const;
  void sent(const events::TimedEvent& event);
  void received(const events::TimedEvent& event);
  void probed(const events::TimedEvent& event);
  void completed(const events::TimedEvent& event);
  void complete(std::int32_t rank, std::uint32_t request, std::uint64_t ordinal);
  void report_if_whole(const Key& key);
  [[nodiscard]] static std::uint64_t of_request(std::int32_t rank, std::uint32_t request);

  Found found_;
  std::vector<Duration> computed_;  // by rank, so far
  std::unordered_map<Key, MessageCalls, KeyHash> messages_;
  std::unordered_map<std::uint64_t, Posted> requests_;        // kIrecv that are not complete
  std::unordered_map<std::int32_t, std::vector<Vain>> vain_;  // by rank, until the same probe finds something
};

/// A bit for each call of each rank: memory for marks that a survey makes. Follows the number of marks, because places in
/// a rank's stream may have wide gaps between them.
class Marks {
 public:
  void set(std::int32_t rank, std::uint64_t ordinal);
  [[nodiscard]] bool has(RankId rank, std::uint64_t ordinal) const;

 private:
  std::vector<std::unordered_map<std::uint64_t, std::uint64_t>> words_;  // by rank, then 64 ordinals each
};

}  // namespace nplus1::hypothesis::transform
