// A native recording on its way: what the ranks tell of each call, and afterwards of how it came out, becomes
// the calls and matches that a sink gets from a simulated run, with real times.
//
// What no rank knows is which of a sender's messages it has received: messages are counted here, by the rules
// of MPI's matching (per source, communicator and tag, sends and receives pair in the order in which they
// were made; a receive from any source or of any tag when it is told of). A rank's stream waits while the
// event of a send that somebody has received has not come yet. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "events/sink.hpp"

namespace nplus1::simnode::node {

class NativeStream {
 public:
  NativeStream(std::size_t ranks, events::EventSink& sink) : ranks_(ranks), sink_{sink} {}

  /// A rank's next event, ids global; `detail` may be null.
  void take(RankId rank, const events::Event& event, const events::Extension& lists,
            const events::Detail* detail);
  /// A kOutcome: of the thread's last event, or a match.
  void take_outcome(RankId rank, const events::Answer& answer, std::vector<std::uint32_t> completed);
  /// Nothing more comes: what waits goes on, calls that never returned are told as unfinished.
  void finish();
  [[nodiscard]] std::uint64_t events() const { return events_; }
  /// Received messages whose send was never told of.
  [[nodiscard]] std::uint64_t unknown_messages() const { return unknown_; }

 private:
  using Key =
      std::tuple<std::int32_t, std::int32_t, std::uint32_t, std::int32_t>;  // source, destination, comm, tag
  /// Messages of one kind: the numbers of those sent, and how many have been received.
  struct Channel {
    std::deque<std::uint64_t> sent;  // from `first` on
    std::uint64_t first = 0;
    std::uint64_t claimed = 0;
  };
  struct Item {
    bool outcome = false;
    bool has_detail = false;
    events::Event event;
    events::Detail detail;
    std::vector<std::uint32_t> words;
    std::vector<std::int64_t> sizes;
    events::Answer answer;  // an outcome's
    std::uint64_t ordinal = 0;
  };
  struct Claim {
    Key key;
    std::uint64_t index;
  };
  struct Rank {
    std::deque<Item> waiting;
    std::map<std::uint16_t, Item> open;  // by thread
    std::uint64_t events = 0;
    std::unordered_map<std::uint32_t, Claim> claims;         // of receives under way
    std::unordered_map<std::uint32_t, CommId> receiving;     // their communicators
    std::unordered_map<std::uint64_t, std::uint64_t> taken;  // by matching probes: own number, real number
    std::unordered_map<std::uint32_t, std::uint64_t> taken_later;  // kIrecv of such a message
    std::unordered_map<std::int32_t, std::uint64_t> sent_to;
  };

  void add(RankId rank, Item&& item);
  void go_on();
  bool go_on(RankId rank);
  [[nodiscard]] bool process(RankId rank, Item& item);
  void begin(RankId rank, Item& item);
  [[nodiscard]] bool end(RankId rank, Item& item);
  [[nodiscard]] bool match(RankId rank, Item& item);
  void number_send(RankId rank, Item& item);
  [[nodiscard]] Claim claim(const Key& key);
  void give_up_claim(Rank& rank, std::uint32_t request);
  [[nodiscard]] bool number(const Claim& claim, std::uint64_t& sequence);
  void emit(RankId rank, const Item& call, const events::Answer& answer, Time exit,
            const std::vector<std::uint32_t>& completed);

  std::vector<Rank> ranks_;
  events::EventSink& sink_;
  std::map<Key, Channel> channels_;
  std::uint64_t events_ = 0;
  std::uint64_t unknown_ = 0;
  bool ended_ = false;
};

}  // namespace nplus1::simnode::node
