#include "stubs/statistics/scope.hpp"

#include <algorithm>
#include <utility>

#include "stubs/clock/thread_clock.hpp"
#include "stubs/statistics/tables.hpp"

namespace nplus1::stubs::statistics {

Scope::Scope()
    : recorder_{statistics::recorder()},
      thread_{&recorder_->thread()},
      state_{thread_->state},
      entry_{ticks()} {
  begin();
}

Scope::Scope(MPI_Comm comm)
    : recorder_{statistics::recorder()},
      thread_{&recorder_->thread()},
      state_{thread_->state},
      handle_{comm},
      comm_{recorder_->find(*thread_, comm)},
      entry_{ticks()},
      has_comm_{true} {
  begin();
  if (comm_ == nullptr) return;
  state_->communicator = comm_->known->key | 1;
  state_->members = comm_->members;
  state_->ranges = comm_->ranges;
}

/// Until publish() the state's sequence number is odd.
void Scope::begin() {
  path_ = recorder_->path(*thread_, call_site(), call_frame());
  __atomic_store_n(&state_->sequence, state_->sequence + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  state_->call = static_cast<std::uint16_t>(current_call());
  state_->inside = 1;
  state_->path = path_;
  state_->since_tick = entry_;
  state_->communicator = 0;
  state_->ordinal = 0;
  state_->root = -1;
  state_->members = 0;
  state_->waits = 0;
}

void Scope::publish() {
  __atomic_store_n(&state_->sequence, state_->sequence + 1, __ATOMIC_RELEASE);
}

void Scope::waits_for(int peer, page::WaitKind kind) {
  if (peer == MPI_PROC_NULL) return;
  if (state_->waits < page::kMostWaits)
    state_->wait[state_->waits] = {comm_ == nullptr ? -2 : comm_->world(peer), kind, state_->call};
  ++state_->waits;
}

void Scope::waits_for(const MPI_Request* requests, int count) {
  if (requests == nullptr) return;
  constexpr int kMostLookedAt = 64;
  for (int i = 0; i < std::min(count, kMostLookedAt); ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    const RequestUse use = recorder_->request(requests[i]);
    if (use.communicator != 0 && state_->communicator == 0) {
      state_->communicator = use.communicator;
      state_->ordinal = use.ordinal;
      state_->members = use.members;
      state_->ranges = use.ranges;
    }
    if (state_->waits < page::kMostWaits)
      state_->wait[state_->waits] = {use.peer, use.kind, static_cast<std::uint16_t>(use.call)};
    ++state_->waits;
  }
  if (count > kMostLookedAt) state_->waits += static_cast<std::uint32_t>(count - kMostLookedAt);
}

void Scope::takes_part(int root) {
  if (comm_ == nullptr) return;
  state_->ordinal = comm_->begin_collective();
  state_->root = root >= 0 ? comm_->world(root) : -1;
}

CommUse* Scope::accepted_comm() {
  if (comm_ == nullptr && has_comm_) comm_ = recorder_->find_or_add(*thread_, handle_);
  return comm_;
}

void Scope::payload(std::uint64_t bytes) {
  bytes_ += bytes;
  least_ = least_ == 0 ? bytes + 1 : std::min(least_, bytes + 1);
  most_ = std::max(most_, bytes);
}

void Scope::sent(int destination, std::int64_t bytes) {
  if (destination == MPI_PROC_NULL || accepted_comm() == nullptr) return;
  const std::int32_t peer = comm_->world(destination);
  if (peer < 0) {
    __atomic_fetch_add(&recorder_->header().unplaced, 1, __ATOMIC_RELAXED);
    return;
  }
  ++messages_;
  payload(static_cast<std::uint64_t>(bytes));
  recorder_->message(page::kPointToPointLayer, false, peer, bytes);
}

void Scope::started(CommUse& comm, std::int32_t peer, std::int64_t bytes) {
  if (comm_ == nullptr) comm_ = &comm;
  if (peer < 0) return;
  ++messages_;
  payload(static_cast<std::uint64_t>(bytes));
  recorder_->message(page::kPointToPointLayer, false, peer, bytes);
}

void Scope::started(CommUse& comm, const Fan& fan) {
  if (comm_ == nullptr) comm_ = &comm;
  comm.begin_collective();
  collective(fan, false);
}

void Scope::accessed(std::uint64_t layer, std::int64_t bytes) {
  ++messages_;
  payload(static_cast<std::uint64_t>(bytes));
  recorder_->count_size(layer, static_cast<std::uint64_t>(bytes));
}

void Scope::made(MPI_Request request, int peer, page::WaitKind kind) {
  RequestUse use{-2, kind, current_call()};
  if (comm_ != nullptr && kind == page::WaitKind::kCollective) {
    use.communicator = state_->communicator;
    use.ordinal = state_->ordinal;
    use.members = comm_->members;
    use.ranges = comm_->ranges;
  } else if (comm_ != nullptr) {
    use.peer = comm_->world(peer);
  }
  recorder_->note_request(request, use);
}

void Scope::collective(Fan fan, bool blocking) {
  if (fan_) {  // MPI_Startall
    recorder_->count_collective(current_call(), blocking_, *fan_, comm_ == nullptr ? 0 : comm_->size,
                                fan_bytes_, 0);
    fan_bytes_ = 0;
  }
  const std::uint64_t bytes = recorder_->count_fan(fan);
  fan_bytes_ += bytes;
  if (bytes > 0) payload(bytes);
  blocking_ = blocking;
  waits_ = waits_ || blocking;
  fan_ = std::move(fan);
}

void Scope::count(std::uint64_t ticks) {
  const MpiCall call = static_cast<MpiCall>(state_->call);
  page::Site* site = recorder_->site(path_, call, comm_ == nullptr ? 0 : comm_->size);
  if (site != nullptr) {
    add(site->calls, 1);
    add(site->ticks, ticks);
    raise(site->longest_ticks, ticks);
    if (messages_ > 0) add(site->messages, messages_);
    if (most_ > 0 || least_ > 0) {
      add(site->bytes, bytes_);
      lower(site->least, least_);
      raise(site->most, most_);
    }
  } else {
    recorder_->lose();
  }
  if (fan_)
    recorder_->count_collective(call, blocking_, *fan_, comm_ == nullptr ? 0 : comm_->size, fan_bytes_,
                                ticks);
  if (comm_ == nullptr || comm_->counts == nullptr) return;
  page::Communicator& use = *comm_->counts;
  add(use.ticks, ticks);
  if (waits_) add(use.waiting_ticks, ticks);
  if (messages_ > 0) {
    add(use.messages, messages_);
    add(use.bytes, bytes_);
  }
  if (fan_ && fan_->kind != CollectiveKind::kSynchronize) add(use.collective_calls, 1);
}

Scope::~Scope() {
  const std::int64_t exit = ticks();
  guarded([&] { count(static_cast<std::uint64_t>(exit - entry_)); });
  __atomic_store_n(&state_->sequence, state_->sequence + (state_->sequence % 2 == 0 ? 1 : 2),
                   __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  state_->inside = 0;
  state_->since_tick = exit;
  state_->waits = 0;
  __atomic_store_n(&state_->sequence, state_->sequence + 1, __ATOMIC_RELEASE);
}

void count_start(Scope& scope, MPI_Request request) {
  const Prepared* prepared = scope.recorder().prepared(request);
  if (prepared == nullptr) return;
  if (prepared->fan)
    scope.started(*prepared->comm, *prepared->fan);
  else if (prepared->use.kind == page::WaitKind::kSend)
    scope.started(*prepared->comm, prepared->use.peer, prepared->bytes);
}

}  // namespace nplus1::stubs::statistics
