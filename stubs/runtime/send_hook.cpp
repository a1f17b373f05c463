#include "stubs/runtime/send_hook.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <vector>

#include "stubs/pmpi.hpp"
#include "stubs/runtime/communicators/session_world.hpp"
#include "stubs/runtime/detached_sends.hpp"
#include "stubs/runtime/hooks/collective_lengths.hpp"
#include "stubs/runtime/hooks/ucx.hpp"
#include "stubs/runtime/runtime.hpp"

namespace nplus1::stubs {
namespace {

constexpr std::int32_t kNobody = -1;

constinit thread_local std::int32_t sending_to = kNobody;
constinit thread_local bool sends_detached = false;
constinit thread_local std::int32_t target = kNobody;

/// Endpoint -> rank. Filled by any thread, never emptied; as many endpoints as ranks, so it stays half empty.
struct Table {
  struct Entry {
    std::atomic<const void*> endpoint{nullptr};
    std::atomic<std::int32_t> rank{kNobody};
  };
  explicit Table(std::size_t size) : mask{size - 1}, entries{new Entry[size]} {}

  Entry* find(const void* endpoint) {
    std::size_t at = reinterpret_cast<std::uintptr_t>(endpoint) * 0x9e3779b97f4a7c15u >> 20;
    for (std::size_t tries = 0; tries <= mask; ++tries, ++at) {
      Entry& entry = entries[at & mask];
      const void* there = entry.endpoint.load(std::memory_order_acquire);
      if (there == endpoint) return &entry;
      if (there == nullptr && entry.endpoint.compare_exchange_strong(there, endpoint)) return &entry;
      if (there == endpoint) return &entry;
    }
    return nullptr;
  }

  std::size_t mask;
  std::unique_ptr<Entry[]> entries;
};

std::atomic<Table*> endpoints{nullptr};              // lives until the process ends
constinit std::atomic<bool> knows_receivers{false};  // all whom it has sent to, and it has

std::int32_t rank_behind(const void* endpoint) noexcept {
  Table* table = endpoints.load(std::memory_order_acquire);
  Table::Entry* entry = table == nullptr ? nullptr : table->find(endpoint);
  if (entry != nullptr && sending_to != kNobody) entry->rank.store(sending_to, std::memory_order_relaxed);
  const std::int32_t rank = entry == nullptr ? kNobody : entry->rank.load(std::memory_order_relaxed);
  if (rank == kNobody) knows_receivers.store(false, std::memory_order_relaxed);
  return rank;
}

void wake(std::int32_t rank) noexcept {
  if (Runtime* rt = rank == kNobody || sending_to != kNobody ? nullptr : runtime())
    rt->line.nudge(RankId{rank});
}

void sent_through(const void* endpoint) noexcept {
  wake(rank_behind(endpoint));
}

/// One-sided transfers, and the messages that stand for them, may need several steps of the target's.
void aims_at(const void* endpoint) noexcept {
  target = rank_behind(endpoint);
  wake(target);
}

using FreeRequest = void(void*);
FreeRequest* request_free() noexcept {
  static FreeRequest* const function = find_in_ucx<FreeRequest>("ucp_request_free");
  return function;
}

/// Else it is null, since the message has left, or an error of UCX's (UCS_PTR_IS_ERR).
bool is_request(const void* outcome) noexcept {
  constexpr std::uintptr_t kErrors = 100;
  return outcome != nullptr && reinterpret_cast<std::uintptr_t>(outcome) < UINTPTR_MAX - kErrors;
}

/// A message of the program's own is none of a collective's.
void* send(void* endpoint, const void* buffer, std::size_t count, std::uint64_t tag, const void* parameters) {
  static TagSend* const next = find_in_ucx<TagSend>("ucp_tag_send_nbx");
  begins_with(tag);
  const bool detached = sends_detached || (detaches_sends() && sending_to == kNobody);
  void* const outcome = detached ? send_detached(next, endpoint, buffer, count, tag, parameters)
                                 : next(endpoint, buffer, count, tag, parameters);
  if (is_request(outcome) && sending_to == kNobody) call_state.sends_wait = true;
  return outcome;
}

}  // namespace

bool can_free_ucx_requests() noexcept {
  return request_free() != nullptr;
}
void free_ucx_request(void* request) noexcept {
  request_free()(request);
}

/// By one empty message to everybody. In big jobs to those at distances that are powers of two, whom most collectives send to; the
/// others it learns as it goes.
void introduce_ranks(std::int32_t me, std::int32_t ranks, bool wake_each_other) {
  constexpr std::int32_t kMostRanks = 128;
  endpoints.store(new Table{std::bit_ceil(static_cast<std::size_t>(ranks) * 4)}, std::memory_order_release);
  std::vector<MPI_Request> requests;
  const auto introduce = [&](std::int32_t distance) {
    const std::int32_t to = (me + distance) % ranks;
    const std::int32_t from = (me + ranks - distance) % ranks;
    const SendingTo hint{to};
    pmpi::Irecv(nullptr, 0, MPI_BYTE, from, 0, world(), &requests.emplace_back());
    pmpi::Isend(nullptr, 0, MPI_BYTE, to, 0, world(), &requests.emplace_back());
  };
  if (ranks <= kMostRanks) {
    for (std::int32_t k = 1; k < ranks; ++k) introduce(k);
  } else {
    for (std::int32_t k = 1; k < ranks; k *= 2) {
      introduce(k);
      introduce(ranks - k);
    }
  }
  pmpi::Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  const Table& table = *endpoints.load(std::memory_order_relaxed);
  const bool by_ucx = std::any_of(
      &table.entries[0], &table.entries[table.mask + 1],
      [](const Table::Entry& entry) { return entry.rank.load(std::memory_order_relaxed) != kNobody; });
  knows_receivers.store(by_ucx && wake_each_other, std::memory_order_relaxed);
}

bool native_sends_wake() noexcept {
  return target == kNobody && !call_state.sends_wait && detached_sends() == 0 &&
         knows_receivers.load(std::memory_order_relaxed);
}

void wake_target() noexcept {
  wake(target);
}

void forget_target() noexcept {
  target = kNobody;
}

MayNeed::MayNeed(RankId) noexcept {}
MayNeed::MayNeed(const Communicator&) noexcept {}
MayNeed::~MayNeed() = default;

SendingTo::SendingTo(std::int32_t rank, bool detached) noexcept {
  sending_to = rank;
  sends_detached = detached;
}
SendingTo::~SendingTo() {
  sends_detached = false;
  sending_to = kNobody;
}

}  // namespace nplus1::stubs

// The functions of UCX 1.x by which MPICH sends. NOLINT: their names and types are UCX's.
#define NPLUS1_UCX(result, name, after, parameters, arguments)                      \
  extern "C" __attribute__((visibility("default"))) result name parameters {        \
    static auto* const next = nplus1::stubs::find_in_ucx<result parameters>(#name); \
    result outcome = next arguments;                                                \
    nplus1::stubs::after(endpoint);                                                 \
    return outcome;                                                                 \
  }

using Status = std::int8_t;  // ucs_status_t, a packed enumeration

extern "C" __attribute__((visibility("default"))) void* ucp_tag_send_nbx(void* endpoint, const void* buffer,
                                                                         std::size_t count, std::uint64_t tag,
                                                                         const void* parameters) {
  void* outcome = nplus1::stubs::send(endpoint, buffer, count, tag, parameters);
  nplus1::stubs::sent_through(endpoint);
  return outcome;
}
extern "C" __attribute__((visibility("default"))) Status ucp_dt_create_generic(const void* operations,
                                                                               void* context,
                                                                               std::uint64_t* type) {
  static auto* const next =
      nplus1::stubs::find_in_ucx<Status(const void*, void*, std::uint64_t*)>("ucp_dt_create_generic");
  const Status outcome = next(operations, context, type);
  if (outcome == 0) nplus1::stubs::learn_datatype(operations, context, *type);
  return outcome;
}
extern "C" __attribute__((visibility("default"))) void ucp_dt_destroy(std::uint64_t type) {
  static auto* const next = nplus1::stubs::find_in_ucx<void(std::uint64_t)>("ucp_dt_destroy");
  nplus1::stubs::forget_datatype(type);
  next(type);
}
NPLUS1_UCX(void*, ucp_am_send_nb, aims_at,
           (void* endpoint, std::uint16_t id, const void* buffer, std::size_t count, std::uint64_t type,
            void* callback, unsigned flags),
           (endpoint, id, buffer, count, type, callback, flags))
NPLUS1_UCX(Status, ucp_put_nbi, aims_at,
           (void* endpoint, const void* buffer, std::size_t bytes, std::uint64_t address, void* key),
           (endpoint, buffer, bytes, address, key))
NPLUS1_UCX(void*, ucp_put_nb, aims_at,
           (void* endpoint, const void* buffer, std::size_t bytes, std::uint64_t address, void* key,
            void* callback),
           (endpoint, buffer, bytes, address, key, callback))
NPLUS1_UCX(Status, ucp_get_nbi, aims_at,
           (void* endpoint, void* buffer, std::size_t bytes, std::uint64_t address, void* key),
           (endpoint, buffer, bytes, address, key))
NPLUS1_UCX(void*, ucp_get_nb, aims_at,
           (void* endpoint, void* buffer, std::size_t bytes, std::uint64_t address, void* key,
            void* callback),
           (endpoint, buffer, bytes, address, key, callback))

/// Waits itself, so the target has to be known before.
extern "C" __attribute__((visibility("default"))) Status ucp_ep_flush(void* endpoint) {
  static auto* const next = nplus1::stubs::find_in_ucx<Status(void*)>("ucp_ep_flush");
  nplus1::stubs::aims_at(endpoint);
  return next(endpoint);
}
