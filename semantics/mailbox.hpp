// Who gets which message: the matching rules of MPI (MPI 4.0, section 3.5) for the messages to one rank.
// One piece of code for the engine, which keeps a mailbox per rank, and for the stubs, which keep one for
// their own rank with communicator keys of their own. Matching is by posting order and by the order of the
// sender's sends, never by time; only receives from any source need time, and wait for decide().
//
// Not thread-safe: the owner serialises. Nothing fails; memory grows with unmatched messages and receives
// and with the number of (communicator, source) pairs in use, and is reused, so that the steady state
// allocates nothing. An operation's work grows with the logarithm of what is outstanding, with the number of sources
// whose first message a named receive holds, and with the number of tags that held receives of one source ask for;
// looked_at() counts it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::semantics {

struct Message {
  std::uint64_t comm{};
  RankId source{};
  std::int32_t tag{};
  Bytes size{};
  std::uint64_t sequence{};  // per (source, destination), counted over all communicators
  Time at{};                 // arrival if eager, else when the sender is ready
  std::uint64_t user{};      // for the owner
  bool rendezvous = false;
  std::uint32_t site = 0;  // the call site of its send, for the owner
};

struct Receive {
  std::uint64_t comm{};
  RankId source{};     // kAnySource only in post_undecided()
  std::int32_t tag{};  // or kAnyTag
  std::uint64_t id{};  // the owner's: unique among the receives that are posted
  Time posted{};
};

struct Match {
  Receive receive;
  Message message;
};

/// The next receive from any source that can be decided, and the message that it would get now.
struct Candidate {
  std::uint64_t receive_id;
  RankId source;
  std::uint64_t sequence;
  /// When they meet: the message's arrival (its announcement if rendezvous); behind another undecided
  /// receive, whose turn may come in between, not before the posting.
  Time at;
};

class Mailbox {
 public:
  /// `announcement`: how long after the sender is ready the receiver hears of a rendezvous message.
  explicit Mailbox(Duration announcement = {});
  Mailbox(Mailbox&&) noexcept;
  Mailbox& operator=(Mailbox&&) noexcept;
  ~Mailbox();

  /// Posts a receive from a named source. Returns its message if that is here and certain; otherwise the
  /// receive waits, and comes back from arrive(), decide() or cancel() of another.
  std::optional<Message> post(const Receive& receive);
  /// A message of `message.source` in the order of its sends. Returns the receive that takes it, if any.
  std::optional<Receive> arrive(const Message& message);
  /// Removes one waiting message.
  std::optional<Message> take(std::uint64_t comm, RankId source, std::uint64_t sequence);
  /// The waiting message that a probe sees: of a named source the first compatible one, of any source the
  /// earliest (time, source); never one that a posted receive may still take. Valid until the next change.
  [[nodiscard]] const Message* peek(std::uint64_t comm, RankId source, std::int32_t tag);
  /// A waiting message; null if it is gone. Valid until the next change.
  [[nodiscard]] const Message* find(std::uint64_t comm, RankId source, std::uint64_t sequence) const;
  /// Replaces `at`, `rendezvous` and `user` of the waiting message with the same comm, source and sequence.
  bool update(const Message& message);
  /// Removes a posted receive; receives that it held back go to `settled` with their messages.
  bool cancel(std::uint64_t receive_id, std::vector<Match>& settled);

  /// Posts a receive from any source. It holds back later compatible receives until it is decided.
  void post_undecided(const Receive& receive);
  /// What would be decided next: the earliest (time, source) message with the first receive posted for it.
  [[nodiscard]] std::optional<Candidate> candidate();
  /// Gives the message to the receive. Appends that match, then those of receives it held back.
  void decide(const Candidate& candidate, std::vector<Match>& settled);
  [[nodiscard]] bool has_undecided() const { return undecided_ != 0; }

  /// When a receive from any source, or a probe, can see `message`.
  [[nodiscard]] Time visible(const Message& message) const {
    return message.rendezvous ? message.at + announcement_ : message.at;
  }
  /// A hint that a message of this source will come.
  void approach(std::uint64_t comm, RankId source) const;
  /// A hint that its rank will post receives.
  void approach() const;
  [[nodiscard]] std::size_t waiting_messages() const { return waiting_messages_; }
  [[nodiscard]] std::size_t waiting_receives() const { return waiting_receives_; }
  /// Entries that searches have looked at since construction: what its work is measured by.
  [[nodiscard]] std::uint64_t looked_at() const { return looked_at_; }

 private:
  using Node = std::uint32_t;
  static constexpr Node kNil = 0xffffffffU;
  struct MessageNode {
    Message message;
    Node next = kNil;
    Node previous = kNil;
  };
  struct ReceiveNode {
    Receive receive;
    std::uint64_t order = 0;  // of posting
    Node next = kNil;
    Node previous = kNil;
  };
  struct List {
    Node head = kNil;
    Node tail = kNil;
  };
  /// All that concerns one (communicator, source): messages in order of sending, receives in order of
  /// posting.
  struct Channel {
    std::uint64_t comm = 0;
    RankId source = kAnySource;  // which no channel has: a free slot
    List messages;
    List receives;
    Node sorted = kNil;  // its place in sorted_, once a list was long
  };
  struct Sorted;
  struct Choice;
  struct Index;  // choices of receives and probes from any source; exists once there was one

  [[nodiscard]] Channel* lookup(std::uint64_t comm, RankId source);
  Channel& channel(std::uint64_t comm, RankId source);
  Channel& insert(const Channel& c);
  void grow();
  void keep(Channel& c, const Message& message);
  void keep(Channel& c, const Receive& receive);
  Message remove_message(Channel& c, Node node);
  Receive remove_receive(Channel& c, Node node);
  [[nodiscard]] Node first_message(Channel& c, std::int32_t tag);
  [[nodiscard]] Node first_receive(Channel& c, std::int32_t tag);
  [[nodiscard]] Node message_by_sequence(Channel& c, std::uint64_t sequence);
  [[nodiscard]] bool sorts_messages(const Channel& c) const;
  [[nodiscard]] bool sorts_receives(const Channel& c) const;
  Sorted& sorted_of(Channel& c);
  Sorted& sort_messages(Channel& c);
  Sorted& sort_receives(Channel& c);
  void drop_sorted(Channel& c);

  // mailbox_wildcards.cpp
  Index& index();
  Choice& choice(std::uint64_t comm, std::int32_t tag);
  void forget_idle_choices();
  template <class Visit>
  void each_choice_of(const Message& message, Visit visit);
  void appeared(const Message& message, Node node);
  void vanished(Channel& c, const Message& message, Node node);
  void set_first(Choice& choice, Channel& c);
  void set_ready(Choice& choice);
  [[nodiscard]] Choice* holder(const Message& message, std::uint64_t order);
  [[nodiscard]] bool named_earlier(Channel& c, const Message& message, std::uint64_t order);
  bool hold(Channel& c, const Message& message, std::uint64_t order);
  [[nodiscard]] const Message* best(const Choice& choice, std::uint64_t order);
  void remove_undecided(Choice& choice, std::uint64_t order, std::vector<Match>& settled);
  void settle(Channel& c, std::vector<Match>& settled);
  bool settle_one(Channel& c, Node node, std::vector<Match>& settled);
  void settle_sorted(Channel& c, std::vector<Match>& settled);

  // Most used first: these fill the cache lines that every message touches.
  std::vector<Channel> channels_;  // a hash table with open addressing
  std::vector<ReceiveNode> receive_nodes_;
  std::unique_ptr<Index> index_;
  std::size_t undecided_ = 0;
  std::vector<MessageNode> message_nodes_;
  Node free_messages_ = kNil;
  Node free_receives_ = kNil;
  std::uint64_t next_order_ = 0;
  std::size_t waiting_messages_ = 0;
  std::size_t waiting_receives_ = 0;
  Duration announcement_;
  std::size_t used_channels_ = 0;
  std::vector<std::unique_ptr<Sorted>> sorted_;
  std::vector<Node> free_sorted_;
  std::unique_ptr<std::unordered_map<std::uint64_t, Node>> named_by_id_;  // once one was cancelled
  std::uint64_t looked_at_ = 0;
};

}  // namespace nplus1::semantics
