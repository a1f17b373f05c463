// Who is woken while this process is inside Open MPI.
//
// Messages that Open MPI sends by itself (inside a collective, say) leave through the functions of mca_pml, the table of the
// component that carries messages; so does what we send. Its entries for sends are ours, as Open MPI's own component
// pml/monitoring does it. Which entry is which, its functions' names say: of a component without names nothing is replaced, and
// sleepers wake by their timers.
//
// Calls on a window: Open MPI's components for one host write into the memory of others by themselves, but for atomic operations
// on it (osc/rdma over btl/vader), and osc/pt2pt sends messages for everything: a target that sleeps until the simulator answers
// would let them wait for its timer.
#include "stubs/runtime/send_hook.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "stubs/guard/guard.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/communicators/communicators.hpp"
#include "stubs/runtime/hooks/error_hook.hpp"
#include "stubs/runtime/runtime.hpp"

namespace nplus1::stubs {
namespace {

constexpr std::int32_t kNobody = -1;

constinit thread_local std::int32_t sending_to = kNobody;
constinit std::atomic<bool> knows_receivers{false};  // all whom it has sent to

using Isend = int(const void*, std::size_t, MPI_Datatype, int, int, int, MPI_Comm, MPI_Request*);
using Send = int(const void*, std::size_t, MPI_Datatype, int, int, int, MPI_Comm);
using Start = int(std::size_t, MPI_Request*);
using DeleteComm = int(MPI_Comm);

/// Open MPI's own functions, in whose place ours are.
struct {
  Isend* isend = nullptr;
  Send* send = nullptr;
  Start* start = nullptr;
  DeleteComm* delete_comm = nullptr;
} own;

/// World ranks of whom a communicator's messages go to, of those that this thread sent to last: made without a lock, since the
/// runtime's may be held by whoever calls Open MPI.
class Receivers {
 public:
  std::int32_t world_rank(MPI_Comm comm, int rank) {
    if (const std::uint32_t now = generation.load(std::memory_order_acquire); now != generation_) {
      known_ = {};
      generation_ = now;
    }
    Known& known = known_[(reinterpret_cast<std::uintptr_t>(comm) >> 6U) % known_.size()];
    if (known.comm != comm) known = {comm, receivers_of(comm)};
    const auto at = static_cast<std::size_t>(rank);
    return at < known.ranks.size() ? known.ranks[at] : kNobody;
  }

  static inline std::atomic<std::uint32_t> generation{0};  // of communicators: one has gone

 private:
  struct Known {
    MPI_Comm comm = nullptr;
    std::vector<std::int32_t> ranks;
  };
  static std::vector<std::int32_t> receivers_of(MPI_Comm comm) {
    const QuietErrors errors;  // one that is being made may not be asked
    int between = 0;
    if (pmpi::Comm_test_inter(comm, &between) != MPI_SUCCESS) return {};
    MPI_Group group = MPI_GROUP_NULL;
    if ((between != 0 ? pmpi::Comm_remote_group(comm, &group) : pmpi::Comm_group(comm, &group)) !=
        MPI_SUCCESS)
      return {};
    std::vector<std::int32_t> ranks = world_ranks(group);
    pmpi::Group_free(&group);
    return ranks;
  }

  std::array<Known, 16> known_;
  std::uint32_t generation_ = 0;
};

/// Open MPI has taken a message of its own: whoever it is for may sleep. A long one leaves only when its receiver has answered,
/// unannounced.
void sent(std::size_t count, MPI_Datatype type, int rank, MPI_Comm comm) {
  constexpr std::size_t kLong = 1024;  // what any of its transports takes at once
  thread_local Receivers receivers;
  Runtime* const rt = runtime();
  if (rt == nullptr) return;
  const std::int32_t receiver = receivers.world_rank(comm, rank);
  if (receiver < 0)
    knows_receivers.store(false, std::memory_order_relaxed);
  else
    rt->line.nudge(RankId{receiver});
  int bytes = 0;
  pmpi::Type_size(type, &bytes);
  if (count * static_cast<std::size_t>(bytes) > kLong) call_state.sends_wait = true;
}

int isend(const void* buffer, std::size_t count, MPI_Datatype type, int rank, int tag, int mode,
          MPI_Comm comm, MPI_Request* request) {
  const int code = own.isend(buffer, count, type, rank, tag, mode, comm, request);
  if (sending_to == kNobody) guarded([&] { sent(count, type, rank, comm); });
  return code;
}

/// The receiver has to be woken before the wait.
int send(const void* buffer, std::size_t count, MPI_Datatype type, int rank, int tag, int mode,
         MPI_Comm comm) {
  if (sending_to != kNobody || runtime() == nullptr)
    return own.send(buffer, count, type, rank, tag, mode, comm);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = isend(buffer, count, type, rank, tag, mode, comm, &request);
  if (code != MPI_SUCCESS) return code;
  const QuietErrors errors;  // whoever asked to send reports them
  return pmpi::Wait(&request, MPI_STATUS_IGNORE);
}

/// Nobody knows of whom these are.
int start(std::size_t count, MPI_Request* requests) {
  if (sending_to == kNobody) knows_receivers.store(false, std::memory_order_relaxed);
  return own.start(count, requests);
}

int delete_comm(MPI_Comm comm) {
  Receivers::generation.fetch_add(1, std::memory_order_acq_rel);
  return own.delete_comm(comm);
}

/// The entry whose function's name ends so; null where there is none.
void** entry_named(std::span<void*> table, std::string_view end) {
  for (void*& entry : table) {
    Dl_info info{};
    if (entry != nullptr && dladdr(entry, &info) != 0 && info.dli_sname != nullptr &&
        info.dli_saddr == entry && std::string_view{info.dli_sname}.ends_with(end))
      return &entry;
  }
  return nullptr;
}

template <class Function>
void replace(void** entry, Function*& before, Function* now) {
  before = reinterpret_cast<Function*>(*entry);
  *entry = reinterpret_cast<void*>(now);
}

/// In the global scope, or where a program has opened the library by itself.
void* table_of_open_mpi() {
  if (void* found = dlsym(RTLD_DEFAULT, "mca_pml")) return found;
  void* library = dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, "mca_pml");
}

constexpr std::uint32_t kLongestPause = 64;  // looks in vain: members may be computing

struct Needed {
  RankId rank = kAnySource;
  const Communicator* members = nullptr;
  std::uint32_t looks = 0;

  [[nodiscard]] bool is_anybody() const { return rank != kAnySource || members != nullptr; }
};
constinit thread_local Needed needed{};

}  // namespace

void introduce_ranks(std::int32_t, std::int32_t, bool wake_each_other) {
  constexpr std::size_t kFunctions = 15;  // that the table begins with, in all versions of Open MPI 3 and 4
  auto** const begin = static_cast<void**>(table_of_open_mpi());
  if (begin == nullptr || own.isend != nullptr) return;
  const std::span table{begin, kFunctions};
  void** const isends = entry_named(table, "_isend");
  void** const sends = entry_named(table, "_send");
  void** const starts = entry_named(table, "_start");
  void** const deletes = entry_named(table, "_del_comm");
  if (isends == nullptr || sends == nullptr || starts == nullptr || deletes == nullptr) return;
  replace(isends, own.isend, isend);
  replace(sends, own.send, send);
  replace(starts, own.start, start);
  replace(deletes, own.delete_comm, delete_comm);
  knows_receivers.store(wake_each_other, std::memory_order_relaxed);
}

bool native_sends_wake() noexcept {
  return !needed.is_anybody() && !call_state.sends_wait && knows_receivers.load(std::memory_order_relaxed);
}

SendingTo::SendingTo(std::int32_t rank, bool) noexcept {
  sending_to = rank;
}
SendingTo::~SendingTo() {
  sending_to = kNobody;
}

MayNeed::MayNeed(RankId rank) noexcept {
  needed = {rank, nullptr, 0};
}
MayNeed::MayNeed(const Communicator& members) noexcept {
  needed = {kAnySource, &members, 0};
}
MayNeed::~MayNeed() {
  needed = {};
}

void wake_target() noexcept {
  Runtime* const rt = runtime();
  if (rt == nullptr) return;
  rt->line.nudge(needed.rank);
  const std::uint32_t look = needed.looks++;
  if (needed.members != nullptr && ((look & (look - 1)) == 0 || look % kLongestPause == 0))
    rt->line.nudge(*needed.members);
}
void forget_target() noexcept {}

}  // namespace nplus1::stubs
