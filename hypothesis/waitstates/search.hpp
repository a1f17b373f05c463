// Searches a stream of events with virtual times, recorded or simulated, for wait states: which call waited
// for whom, how long, and what the other one did instead. Definitions: docs/formats/waitstates.md.
//
// An EventSink like any other; feed it the whole stream, then ask for result(). One thread. Linear in events;
// memory per rank, per activity, and per message, request and collective call that is under way. What a
// damaged stream leaves without its other half counts as unresolved, never as an error. Events of ranks
// outside 0..ranks-1 throw std::out_of_range.
#pragma once

#include <tsl/robin_map.h>

#include <functional>
#include <memory>
#include <vector>

#include "events/definitions_collector.hpp"
#include "events/sink.hpp"
#include "hypothesis/waitstates/collectives.hpp"
#include "hypothesis/waitstates/kinds.hpp"
#include "hypothesis/waitstates/results.hpp"
#include "hypothesis/waitstates/rows.hpp"
#include "hypothesis/waitstates/slab.hpp"
#include "hypothesis/waitstates/windows.hpp"
#include "netmodel/network_model.hpp"
#include "patterns/own_overhead.hpp"

namespace nplus1::hypothesis {

class WaitStates : public events::EventSink {
 public:
  /// `network` says what a call costs by itself and which sends never wait; null: not known. It must outlive
  /// this.
  explicit WaitStates(std::size_t ranks, const netmodel::NetworkModel* network = nullptr);

  void on_event(const events::TimedEvent& event) override;
  void on_match(RankId receiver, const events::Answer& match) override;
  void on_communicator(const events::Communicator& communicator) override;
  void on_call_path(const events::CallPath& path) override { definitions_.on_call_path(path); }
  void on_region(const events::Region& region) override { definitions_.on_region(region); }

  /// To be called once, at the end of the stream.
  [[nodiscard]] WaitStateResults result();
  /// Messages, requests and calls that are under way: what memory follows.
  [[nodiscard]] std::size_t under_way() const {
    return messages_.size() + requests_.in_use() + calls_.in_use();
  }
  [[nodiscard]] std::size_t path_nodes() const { return paths_.nodes(); }

 private:
  /// Time of failed tests and probes, until what they asked for comes.
  struct Polls {
    struct Part {
      Time begin;
      Time end;
      Duration polled;
      std::uint32_t row;
    };
    std::vector<Part> parts;
    void add(const Part& part);
  };
  struct MessageKey {
    std::int32_t source = 0;
    std::int32_t destination = 0;
    std::uint64_t sequence = 0;
    friend bool operator==(const MessageKey&, const MessageKey&) = default;
  };
  struct RequestKey {
    std::int32_t rank = 0;
    std::uint32_t request = 0;
    friend bool operator==(const RequestKey&, const RequestKey&) = default;
  };
  /// Spreads keys over all bits: the tables look at some of them.
  struct Hash {
    std::size_t operator()(const MessageKey& key) const;
    std::size_t operator()(const RequestKey& key) const;
  };
  /// A message until both ends are known.
  struct Message {
    bool sent = false;
    bool received = false;
    Time send{};    // when its send began
    Time posted{};  // when its receive was posted
    Time done{};
    Path send_path;
    Path receive_path;
    Waiter sender;
    Waiter receiver;
  };
  /// A non-blocking operation until it is complete for the application, and its partner known.
  struct Request {
    bool is_receive = false;
    bool is_send = false;
    bool matched = false;    // a receive whose message is known
    bool resolved = false;   // the partner is known
    bool abandoned = false;  // nobody will ask who that was
    Waiter waiter;           // the call that waits for it
    MessageKey message;      // of a send
    Time posted{};
    Path path;
    Partner partner;
    std::unique_ptr<Polls> polls;
  };
  struct Lane {
    Path path;
    Time end{};
    Duration computing{};
    bool calls = false;
    std::vector<std::uint32_t> regions;
    std::uint32_t outside = kInside;  // the row of the unmodelled call that it is in
    Polls probes;
  };
  /// A call that returned, until it is known for whom it waited.
  struct Call {
    bool active = false;
    RankId rank;
    std::uint32_t row = 0;
    std::uint32_t computing_row = 0;
    Time entry{};
    Time exit{};
    Duration waiting{};
    Duration held_up{};        // its transfer, by others on shared links
    std::uint64_t number = 0;  // within the rank
    std::uint32_t unresolved = 0;
    bool has_partner = false;
    Partner partner;
    Path before;  // at entry
    Path after;   // open; none while the call is not put aside
    std::vector<Polls::Part> polls;
  };
  struct LateReceive {
    Time sent;
    std::uint64_t call;
    Duration late;
    std::uint32_t row;
  };
  struct Rank {
    std::vector<Lane> lanes;  // by thread
    std::uint64_t calls = 0;
    std::vector<LateReceive> late;  // latest sent last: see note_received()
  };
  static constexpr std::uint32_t kInside = ~0U;

  static constexpr std::uint32_t kNoPlace = ~0U;

  Lane& lane_of(const events::TimedEvent& event);
  void advance(const events::TimedEvent& event, Lane& lane);
  void count(const events::TimedEvent& event, const Lane& lane, Call& call);
  void track(const events::TimedEvent& event, Lane& lane, Call& call, std::uint32_t place);

  // What each kind of call waits for (wait_states_partners.cpp). `place`: the call's in calls_, if it waited.
  void find_partners(const events::TimedEvent& event, Lane& lane, Call& call, std::uint32_t place);
  void send(const events::TimedEvent& event, const Lane& lane, Call& call, std::uint32_t place);
  void receive(const events::TimedEvent& event, const Lane& lane, Call& call, std::uint32_t place);
  void post_receive(const events::TimedEvent& event, const Lane& lane);
  void probe(const events::TimedEvent& event, Lane& lane, Call& call);
  void collective(const events::TimedEvent& event, const Lane& lane, Call& call, std::uint32_t place);
  void synchronize_window(const events::TimedEvent& event, const Lane& lane, Call& call, std::uint32_t place);
  void complete(const events::TimedEvent& event, Call& call, std::uint32_t place);
  void complete_one(RequestKey key, Call& call, std::uint32_t place);
  void poll(const events::TimedEvent& event, const Call& call);
  void forget(RequestKey key, bool cancelled);
  std::uint32_t new_request(const events::TimedEvent& event);
  [[nodiscard]] bool never_waits(const events::Event& send) const;
  void settle(const MessageKey& key);
  void tell(const Waiter& waiter, const Partner& partner);
  static void consider(Call& call, const Partner& partner);
  void note_received(const Call& call, Time sent);

  // What the waiting was, and who caused it (wait_states_costs.cpp).
  void conclude(Call& call, Lane* lane);
  Duration share_out(const Call& call);
  Duration share_out_to_partner(const Call& call, Duration& explained);
  Duration share_out_polls(const Call& call);
  void note_late_sender(const Call& call, Duration late);
  void blame(const Call& call, const Path& before, Duration late);
  void continue_path(const Call& call, Lane* lane, bool on_partner);
  void add(const Call& call, std::uint32_t row, WaitState state, Duration time);

  void fill_critical_path(WaitStateResults& results);
  void fill_delays(WaitStateResults& results);
  void fill_activities(WaitStateResults& results);

  const netmodel::NetworkModel* network_;
  events::DefinitionsCollector definitions_;
  Paths paths_;  // before everything that holds paths
  Rows names_;
  std::vector<Tally> rows_;
  std::vector<Tally> rank_tallies_;
  patterns::FlatMap<DelayCost> delays_;  // by row and rank
  Duration unattributed_{};
  std::uint64_t unresolved_ = 0;
  std::vector<Rank> ranks_;
  tsl::robin_map<MessageKey, Message, Hash> messages_;
  tsl::robin_map<RequestKey, std::uint32_t, Hash> request_places_;
  Slab<Request> requests_;
  Slab<Call> calls_;  // put aside
  CollectiveCalls collectives_;
  WindowCalls windows_;
  CollectiveCalls::Tell tell_;
  patterns::OwnOverhead own_;
  std::vector<PathShare> of_late_, of_waiting_;
};

}  // namespace nplus1::hypothesis
