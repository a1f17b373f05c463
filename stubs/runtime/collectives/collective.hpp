// One collective call, whatever its form: what it means to the simulator and how MPI performs it. The
// handlers (*_collective_handlers.cpp, neighbor_handlers.cpp) describe the call once; blocking, non-blocking
// and persistent forms run the same description.
#pragma once

#include <mpi.h>

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "stubs/runtime/runtime.hpp"
#include "support/collective_kind.hpp"

namespace nplus1::stubs {

/// What a native operation works on until it is complete.
struct Keep {
  std::vector<std::shared_ptr<void>> objects;
  bool may_leave = false;  // all that it reads of the program's is copied: the rank need not wait for it

  template <class Object>
  void push_back(Object&& object) {
    objects.push_back(std::forward<Object>(object));
  }
};

struct Collective {
  static constexpr std::int32_t kNoRoot = std::numeric_limits<std::int32_t>::min();

  [[nodiscard]] bool rooted() const { return root != kNoRoot; }

  CollectiveKind kind{};
  Communicator* comm = nullptr;      // null: not a communicator that the simulator knows
  std::int32_t root = kNoRoot;       // as the application named it
  std::int64_t size = 0;             // as netmodel::CollectiveCall::size
  std::vector<std::int64_t> sizes;   // bytes per member, where the kind has them
  std::vector<std::uint32_t> words;  // neighbourhood edges
  bool in_place = false;             // events::kInPlace
  bool empty_blocks_travel = false;  // events::kEmptyBlocksTravel
  /// What the one message that this member receives must have, where MPI checks that (MPI_Bcast).
  std::optional<std::size_t> receives_exactly;
  /// This rank's own block does not fit where it receives it: an error (MPI_ERR_TRUNCATE) that `start_of_blocking` does not
  /// return, since the others' blocks must move all the same.
  bool own_block_is_cut_off = false;
  /// What a recording shows of the data (docs/formats/events.md, "Detail").
  CallData data;
  /// Nobody can leave before everybody has entered, so the blocking form runs natively, at once.
  bool synchronises = false;
  /// This rank receives nothing from others: it leaves at its own virtual end, with its send data in private
  /// copies.
  bool leaves_early = false;
  /// The operation is the program's own, which may ask what time it is.
  bool runs_the_programs_operation = false;
  /// The blocking form runs natively, whoever has to wait in it: the library's non-blocking form has another result. All members
  /// say the same.
  bool has_to_block = false;
  /// MPI's own forms. `start` may use private copies, which it keeps alive through `keep`; where there is no memory
  /// for them, the rank stays until MPI lets it go.
  std::function<int()> blocking;
  std::function<int(MPI_Request*, Keep& keep)> start;
  /// What the blocking form starts instead, where the library's non-blocking form has another result.
  std::function<int(MPI_Request*, Keep& keep)> start_of_blocking;
};

/// MPI_X: returns MPI's code.
int run(Collective&& collective);
/// MPI_IX: `request` becomes a request of ours.
int start(Collective&& collective, MPI_Request* request);
/// MPI_X_init: `make_handle` makes MPI's inactive handle, which the application gets, and which works on `keep`.
int make_persistent(Collective&& collective, MPI_Request* request, const std::function<int()>& make_handle,
                    Keep&& keep = {});

/// The creation of communicators: in virtual time all members of `comm` wait for each other; `native` is what
/// MPI does meanwhile (the lock is held), which must need no more than that all have come. Returns its code.
/// `told`: whether the simulator knows of the call. It does not where MPI has failed before it asked anybody, in a function
/// of the program's that copies an attribute: then the others need not come, and the call may be made again properly.
int synchronize(Call& call, const Communicator& comm, const std::function<int()>& native,
                bool* told = nullptr);
/// Members of each of `comms` wait for each other, of one after the other. All of it is told before `native` is called: who
/// has left one of them in virtual time would there wait for others, who wait for the end of an earlier one.
int synchronize_in_turn(Call& call, std::span<const std::shared_ptr<Communicator>> comms,
                        const std::function<int()>& native);

}  // namespace nplus1::stubs
