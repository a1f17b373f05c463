// Communicators as the simulator knows them: a global key that all members compute alike without talking to
// each other, the ring's own dense number, and the members' world ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stubs/runtime/communicators/departures.hpp"
#include "support/ids.hpp"

namespace nplus1::stubs {

/// How many communicators were made in the same way: of one origin, with the same members and tag.
using Creations = std::unordered_map<std::uint64_t, std::uint32_t>;

struct Communicator : std::enable_shared_from_this<Communicator> {
  std::uint64_t key = 0;
  CommId number{};  // on this rank's ring
  MPI_Comm handle = MPI_COMM_NULL;
  bool inter = false;
  std::int32_t my_index = 0;         // in the local group
  std::vector<std::int32_t> all;     // world ranks of all members, in an order that all members agree on
  std::int32_t first_group = 0;      // intercommunicators: how many of `all` are one side
  std::vector<std::int32_t> local;   // world ranks of the local group
  std::vector<std::int32_t> remote;  // intercommunicators only
  std::uint64_t collectives = 0;     // synchronising ones so far
  std::uint32_t undecided = 0;       // receives that only the simulator can match
  std::uint32_t owed_creations = 0;  // from this one: everybody has come, and MPI has refused this rank's
  std::uint32_t in_background =
      0;                    // collectives that go on natively, while the application believes them finished
  bool free_later = false;  // the application freed it while MPI still needs it
  Creations creations;      // of this one
  Known known;              // to the simulator, until nobody here uses it any more

  [[nodiscard]] bool is_needed() const { return undecided > 0 || in_background > 0; }

  [[nodiscard]] const std::vector<std::int32_t>& peers() const { return inter ? remote : local; }
  /// World rank of the peer with rank `r` in this communicator; kProcNull, kAnySource pass through.
  [[nodiscard]] RankId world(int r) const;
  /// The rank here of the peer with world rank `w`.
  [[nodiscard]] int rank_of(std::int32_t w) const;
  [[nodiscard]] int members() const { return static_cast<int>(local.size()); }
};

/// What a communicator is made of: another one, or nothing that has members. All who make it call it alike.
struct Origin {
  // NOLINTNEXTLINE(google-explicit-constructor): mostly it is the parent that is named
  Origin(Communicator& of, std::uint64_t tag = 0) : parent{&of}, name{of.key + tag} {}
  explicit Origin(std::uint64_t called) : name{called} {}
  Communicator* parent = nullptr;
  std::uint64_t name = 0;
};

class Communicators {
 public:
  /// Null for communicators that came about in a way we don't see (spawn, connect).
  Communicator* find(MPI_Comm comm) {
    if (comm == last_handle_) return last_;
    const auto it = by_handle_.find(comm);
    if (it == by_handle_.end()) return nullptr;
    last_handle_ = comm;
    last_ = it->second.get();
    return last_;
  }
  /// Registers `comm`. `creation` and the origin's name must be the same on all members.
  Communicator& add(MPI_Comm comm, Origin origin, std::uint64_t creation);
  /// A communicator of the simulator's that has no MPI handle yet: members by world rank.
  std::shared_ptr<Communicator> make(std::vector<std::int32_t> members, Origin origin,
                                     std::uint64_t creation);
  Communicator& adopt(MPI_Comm comm, std::shared_ptr<Communicator> made);
  /// Takes the handle out; requests that use the communicator keep it alive.
  void forget(MPI_Comm comm);

 private:
  void forget_last() {
    last_handle_ = MPI_COMM_NULL;
    last_ = nullptr;  // what find(MPI_COMM_NULL) returns
  }

  std::unordered_map<MPI_Comm, std::shared_ptr<Communicator>> by_handle_;
  Creations creations_;  // of nothing that has members
  std::uint32_t numbers_ = 0;
  MPI_Comm last_handle_ = MPI_COMM_NULL;
  Communicator* last_ = nullptr;
};

/// World ranks of the members of `group`.
std::vector<std::int32_t> world_ranks(MPI_Group group);

}  // namespace nplus1::stubs
