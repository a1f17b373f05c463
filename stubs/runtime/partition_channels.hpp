// The communicator on which the messages of partitioned requests travel (partitioned.hpp), the tags that tell them apart, and
// the receivers that wait to be introduced to their senders. With the runtime's lock held.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "stubs/runtime/communicators/communicators.hpp"
#include "stubs/runtime/requests/requests.hpp"
#include "support/ids.hpp"

namespace nplus1::stubs {

class Runtime;
struct Partitioned;

/// What the two requests of a sender and a receiver match by.
struct PartitionedName {
  std::uint64_t comm = 0;    // Communicator::key
  std::int32_t tag = 0;      // the program's
  std::int32_t ordinal = 0;  // how many with these the rank had initialised before, for this peer

  bool operator==(const PartitionedName&) const = default;
};

/// What the sender tells the receiver of a request.
struct Introduction {
  PartitionedName name;
  std::int64_t size = 0;      // bytes of each message
  std::int32_t messages = 0;  // in each round
  std::int32_t first = 0;     // the first one's tag
};

class PartitionChannels {
 public:
  static constexpr int kIntroductionTag = 0;

  /// Makes the native communicator, where MPI has partitioned communication; by all ranks.
  void open(MPI_Comm world);
  /// Before MPI_Finalize.
  void close();
  /// For the simulator; made when it is first used.
  Communicator& communicator(Runtime& rt);
  /// Tags for `n` messages to `peer`; they are used again after all others have been.
  std::int32_t take_tags(RankId peer, std::int32_t n, std::int32_t largest);
  /// Of a new request.
  PartitionedName name(bool sends, RankId peer, const Communicator& comm, std::int32_t tag);
  /// A receiver that has to be introduced: it gets what has come for it already.
  void expect(const std::shared_ptr<Partitioned>& receiver);

  struct Source {
    std::list<std::weak_ptr<Partitioned>> expected;  // to be introduced
    std::list<Introduction> unclaimed;
    std::unique_ptr<Request> receive;  // of the next introduction
    Introduction incoming;
    bool busy = false;  // a thread looks for it
  };
  Source& from(RankId peer) { return sources_[peer.value]; }
  /// The next introduction has come.
  static void hand_out(Source& source);

 private:
  MPI_Comm native_ = MPI_COMM_NULL;
  std::shared_ptr<Communicator> made_;
  std::unordered_map<std::int32_t, Source> sources_;
  std::unordered_map<std::int32_t, std::int32_t> next_tag_;
  std::map<std::tuple<bool, std::int32_t, std::uint64_t, std::int32_t>, std::int32_t> names_;
};

}  // namespace nplus1::stubs
