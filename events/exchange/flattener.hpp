// For formats that know no requests, communicators or wildcards as MPI does (SimGrid's time-independent
// traces, GOAL): a run as one program for each rank, in which every receive names what it got. One thread.
//
// A rank's events wait here until it is certain what its posted receives got, so a receive that stays open
// for the whole run (a listener) keeps all of its rank's later events in memory.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/exchange/exchange.hpp"
#include "events/exchange/stored_event.hpp"

namespace nplus1::events::exchange {

/// One end of a message: the other end, and a tag that tells it from those of other communicators.
struct Message {
  std::int32_t peer = 0;
  std::uint32_t tag = 0;
  std::int64_t size = 0;
};

/// What one member does in one round of a collective: it starts the send, if any, and waits for the receive,
/// if any.
struct Round {
  std::int32_t send_to = -1;  // member indices
  std::int32_t receive_from = -1;
  std::int64_t size = 0;  // of the send
};
/// The rounds of `member`. Folders above events/ know the algorithms.
using Expand = std::function<std::vector<Round>(const TimedEvent& collective, std::int32_t member,
                                                std::int32_t members)>;

/// What a format makes of it. Operations of one rank come in program order; a handle is never used twice.
class Programs {
 public:
  virtual ~Programs() = default;
  virtual void compute(RankId rank, Duration time) = 0;
  virtual void send(RankId rank, const Message& message, std::uint64_t handle) = 0;
  /// A size of -1: whatever comes.
  virtual void receive(RankId rank, const Message& message, std::uint64_t handle) = 0;
  virtual void wait(RankId rank, std::uint64_t handle) = 0;
  /// A collective over all ranks; false if the format has no such thing.
  virtual bool collective(const TimedEvent& /*collective*/) { return false; }
};

/// Tags of messages outside MPI_COMM_WORLD, and within collectives, are renumbered from here.
inline constexpr std::uint32_t kFirstOwnTag = 1U << 30;

class Flattener {
 public:
  Flattener(std::int32_t ranks, Programs& programs, Expand expand);

  void on_event(const TimedEvent& event);
  void on_match(RankId receiver, const Answer& match);
  void on_communicator(const Communicator& communicator) { communicators_[communicator.id] = communicator; }
  /// No more events. What the programs could not say.
  std::vector<std::string> finish();

 private:
  struct Held {
    StoredEvent event;
    bool open = false;
  };
  struct Rank {
    std::deque<Held> queue;
    std::uint64_t popped = 0;
    std::unordered_map<std::uint32_t, std::uint64_t> open;  // posted receive -> place in the stream
    std::set<std::uint32_t> active;                         // requests that a wait must name
    std::uint64_t handles = std::uint64_t{1} << 32;         // beyond all requests
  };

  void drain(RankId rank);
  void flatten(const StoredEvent& stored);
  void transfer(const StoredEvent& stored);
  void complete(const StoredEvent& stored);
  void collective(const StoredEvent& stored);
  [[nodiscard]] std::uint32_t tag_of(CommId comm, std::int64_t tag);

  Programs& programs_;
  Expand expand_;
  std::vector<Rank> ranks_;
  std::unordered_map<CommId, Communicator> communicators_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> tags_;
  std::set<std::string> lost_;
};

}  // namespace nplus1::events::exchange
