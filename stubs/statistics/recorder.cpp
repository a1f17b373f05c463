// The counts; what becomes of the page is in page_file.cpp.
#include "stubs/statistics/recorder.hpp"

#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>

#include <cstring>
#include <utility>

#include "stubs/clock/thread_clock.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/statistics/tables.hpp"

namespace nplus1::stubs::statistics {

using page::TableKind;

constinit std::atomic<bool> shared_counts{false};

namespace {

constexpr unsigned kFrames = 4;
std::atomic<Recorder*> instance{nullptr};
/// Where threads beyond those that a page has say what they do: nowhere.
page::ThreadState nowhere;
thread_local Thread own_thread;

std::uint64_t number_of(MPI_Request request) {
  std::uint64_t number = 0;
  std::memcpy(&number, &request, sizeof request);
  return number;
}

}  // namespace

Recorder* recorder() {
  return instance.load(std::memory_order_acquire);
}
void set_recorder(Recorder* recorder) {
  instance.store(recorder, std::memory_order_release);
}

std::int64_t bytes_of(MPI_Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (count <= 0 || type == MPI_DATATYPE_NULL || pmpi::Type_size_x(type, &size) != MPI_SUCCESS) return 0;
  return size <= 0 ? 0 : static_cast<std::int64_t>(size * count);
}

std::uint64_t CommUse::begin_collective() {
  const std::uint64_t ordinal = collectives.fetch_add(1, std::memory_order_relaxed) + 1;
  page::Live* shown = live.load(std::memory_order_relaxed);
  if (shown != nullptr) __atomic_store_n(&shown->collectives, ordinal, __ATOMIC_RELEASE);
  return ordinal;
}

std::int32_t CommUse::world(int peer) const {
  return peer == MPI_ANY_SOURCE ? -1 : known->world(peer).value;
}

Thread::~Thread() {
  if (state == nullptr || state == &nowhere || !active()) return;
  state->inside = 0;
  __atomic_store_n(&state->used, 0, __ATOMIC_RELEASE);
}

Thread& Recorder::thread() {
  Thread& mine = own_thread;
  if (mine.state != nullptr) [[likely]]
    return mine;
  auto* states = table<page::ThreadState>(TableKind::kThreads);
  mine.state = &nowhere;
  for (std::uint32_t i = 0; i < entries(TableKind::kThreads); ++i) {
    std::uint32_t free = 0;
    if (!__atomic_compare_exchange_n(&states[i].used, &free, 1U, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      continue;
    mine.state = &states[i];
    break;
  }
  mine.paths = std::make_unique<CallPaths>(kFrames, [this, &mine](CallSiteId id, const std::string& frames) {
    if (mine.numbers.size() <= id.value) mine.numbers.resize(id.value + 1);
    mine.numbers[id.value] = intern(frames);
  });
  return mine;
}

std::uint32_t Recorder::path(Thread& thread, const void* site, const void* frame) {
  const CallSiteId id = thread.paths->id(site, frame);
  return thread.numbers[id.value];
}

/// Path 0 is "not known".
std::uint32_t Recorder::intern(const std::string& frames) {
  const std::lock_guard guard{lock_};
  const auto known = paths_.find(frames);
  if (known != paths_.end()) return known->second;
  const std::uint32_t number = header_->paths + 1;
  const std::uint32_t at = header_->text;
  if (number > entries(TableKind::kPaths) || at + frames.size() > entries(TableKind::kText)) {
    lose();
    return 0;
  }
  std::memcpy(table<char>(TableKind::kText) + at, frames.data(), frames.size());
  table<page::Path>(TableKind::kPaths)[number - 1] = {at, static_cast<std::uint32_t>(frames.size())};
  header_->text = at + static_cast<std::uint32_t>(frames.size());
  __atomic_store_n(&header_->paths, number, __ATOMIC_RELEASE);
  paths_.emplace(frames, number);
  return number;
}

void Recorder::lose() noexcept {
  __atomic_fetch_add(&header_->lost, 1, __ATOMIC_RELAXED);
}

// ---- communicators --------------------------------------------------------------------------------------------

CommUse* Recorder::find(Thread& thread, MPI_Comm comm) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &comm, sizeof comm);
  Thread::Seen& seen = thread.seen[mix(bits, 0) % Thread::kSeen];
  const std::uint64_t now = generation_.load(std::memory_order_acquire);
  if (seen.comm == comm && seen.generation == now && seen.use != nullptr) [[likely]]
    return seen.use;
  const std::lock_guard guard{lock_};
  const auto known = by_handle_.find(comm);
  if (known == by_handle_.end()) return nullptr;
  seen = {comm, now, known->second.get()};
  return seen.use;
}

CommUse* Recorder::find_or_add(Thread& thread, MPI_Comm comm) {
  if (CommUse* found = find(thread, comm)) return found;
  if (comm == MPI_COMM_NULL) return nullptr;
  constexpr std::uint64_t kUnseen = 77;
  const std::lock_guard guard{lock_};
  const auto known = by_handle_.find(comm);  // another thread may have been first
  return known != by_handle_.end() ? known->second.get() : add_held(comm, stubs::Origin{0}, kUnseen);
}

CommUse* Recorder::add_communicator(MPI_Comm comm, stubs::Origin origin, std::uint64_t creation) {
  const std::lock_guard guard{lock_};
  return add_held(comm, origin, creation);
}

CommUse* Recorder::add_held(MPI_Comm comm, stubs::Origin origin, std::uint64_t creation) {
  stubs::Communicator& known = communicators_.add(comm, origin, creation);
  generation_.fetch_add(1, std::memory_order_acq_rel);
  auto made = std::make_shared<CommUse>();
  made->known = known.shared_from_this();
  made->size = static_cast<std::uint32_t>(known.all.size());
  made->members = intern_members(known.all, made->ranges);
  std::uint64_t hash = mix(known.all.size(), static_cast<std::uint64_t>(known.first_group));
  for (const std::int32_t m : known.all) hash = mix(hash, static_cast<std::uint64_t>(m));
  page::Communicator* counts =
      slot(table<page::Communicator>(TableKind::kCommunicators), entries(TableKind::kCommunicators),
           &page::Communicator::key, hash | 1, &page::Communicator::key, hash | 1);
  if (counts != nullptr) {
    counts->members = made->members;
    counts->ranges = made->ranges;
    counts->size = made->size;
    counts->first_group = static_cast<std::uint32_t>(known.first_group);
  }
  made->counts = counts;
  made->live = live_slot(known.key | 1);
  return (by_handle_[comm] = std::move(made)).get();
}

/// Freed slots are taken again: a plain search, at the creation of a communicator.
page::Live* Recorder::live_slot(std::uint64_t key) {
  auto* all = table<page::Live>(TableKind::kLive);
  for (std::uint32_t i = 0; i < entries(TableKind::kLive); ++i) {
    if (all[i].key != 0) continue;
    all[i].collectives = 0;
    __atomic_store_n(&all[i].key, key, __ATOMIC_RELEASE);
    return &all[i];
  }
  return nullptr;
}

void Recorder::forget(MPI_Comm comm) {
  const std::lock_guard guard{lock_};
  const auto found = by_handle_.find(comm);
  if (found == by_handle_.end()) return;
  page::Live* shown = found->second->live.exchange(nullptr);
  if (shown != nullptr) __atomic_store_n(&shown->key, 0, __ATOMIC_RELEASE);
  by_handle_.erase(found);
  communicators_.forget(comm);
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

std::uint32_t Recorder::intern_members(const std::vector<std::int32_t>& members, std::uint32_t& ranges) {
  std::uint64_t hash = members.size();
  for (const std::int32_t m : members) hash = mix(hash, static_cast<std::uint64_t>(m));
  const auto known = member_lists_.find(hash);
  if (known != member_lists_.end()) {
    ranges = known->second.second;
    return known->second.first;
  }
  std::vector<page::MemberRange> found;
  for (const std::int32_t m : members) {
    page::MemberRange* last = found.empty() ? nullptr : &found.back();
    if (last != nullptr && last->count == 1) last->stride = m - last->first;
    if (last != nullptr && m == last->first + static_cast<std::int32_t>(last->count) * last->stride)
      ++last->count;
    else
      found.push_back({m, 0, 1});
  }
  ranges = static_cast<std::uint32_t>(found.size());
  const std::uint32_t at = header_->member_ranges;
  if (at + ranges > entries(TableKind::kMembers)) {
    ranges = 0;
    return 0;
  }
  std::copy(found.begin(), found.end(), table<page::MemberRange>(TableKind::kMembers) + at);
  header_->member_ranges = at + ranges;
  member_lists_.emplace(hash, std::pair{at + 1, ranges});
  return at + 1;
}

// ---- requests -------------------------------------------------------------------------------------------------

void Recorder::note_request(MPI_Request request, const RequestUse& use) {
  requests_->note(number_of(request), use);
}

RequestUse Recorder::request(MPI_Request request) const {
  return requests_->find(number_of(request)).value_or(RequestUse{.kind = page::WaitKind::kOther});
}

void Recorder::prepare(MPI_Request request, std::unique_ptr<Prepared> prepared) {
  note_request(request, prepared->use);
  const std::lock_guard guard{lock_};
  prepared_[request] = std::move(prepared);
}

const Prepared* Recorder::prepared(MPI_Request request) {
  const std::lock_guard guard{lock_};
  const auto found = prepared_.find(request);
  return found == prepared_.end() ? nullptr : found->second.get();
}

std::unique_ptr<Prepared> Recorder::unprepare(MPI_Request request) {
  const std::lock_guard guard{lock_};
  const auto taken = prepared_.extract(request);
  return taken.empty() ? nullptr : std::move(taken.mapped());
}

// ---- counts ---------------------------------------------------------------------------------------------------

void Recorder::message(std::uint64_t layer, bool incoming, std::int32_t peer, std::int64_t bytes) {
  const auto size = static_cast<std::uint64_t>(bytes);
  const std::uint64_t key = page::peer_key(layer, incoming, static_cast<std::uint32_t>(peer));
  page::Peer* counts = slot(table<page::Peer>(TableKind::kPeers), entries(TableKind::kPeers),
                            &page::Peer::key, key, &page::Peer::key, key);
  if (counts != nullptr) {
    statistics::add(counts->messages, 1);
    statistics::add(counts->bytes, size);
  } else {
    lose();
  }
  count_size(layer, size);
}

void Recorder::count_size(std::uint64_t layer, std::uint64_t bytes) {
  page::Size* sizes = slot(table<page::Size>(TableKind::kSizes), entries(TableKind::kSizes),
                           &page::Size::layer, layer + 1, &page::Size::bytes, bytes);
  if (sizes != nullptr)
    statistics::add(sizes->count, 1);
  else
    lose();
}

std::uint64_t Recorder::count_fan(const Fan& fan) {
  if (fan.unplaced) __atomic_fetch_add(&header_->unplaced, 1, __ATOMIC_RELAXED);
  const std::uint64_t layer = static_cast<std::uint64_t>(fan.kind) + 1;
  std::int64_t total = 0;
  if (fan.root_world >= 0 && fan.to_root) {
    message(layer, false, fan.root_world, *fan.to_root);
    total += *fan.to_root;
  }
  if (fan.root_world >= 0 && fan.from_root) {
    message(layer, true, fan.root_world, *fan.from_root);
    total += *fan.from_root;
  }
  for (const Fan::Edge& edge : fan.edges) {
    if (edge.peer < 0 || edge.peer == header_->rank) continue;
    message(layer, false, edge.peer, edge.bytes);
    total += edge.bytes;
  }
  return static_cast<std::uint64_t>(total);
}

void Recorder::count_collective(MpiCall call, bool blocking, const Fan& fan, std::uint32_t size,
                                std::uint64_t bytes, std::uint64_t ticks) {
  const MpiCall named = fan.call == MpiCall::kNone ? call : fan.call;
  const std::uint64_t key = page::collective_key(static_cast<std::uint16_t>(named), blocking,
                                                 static_cast<std::uint8_t>(fan.kind), size);
  page::Collective* counts =
      slot(table<page::Collective>(TableKind::kCollectives), entries(TableKind::kCollectives),
           &page::Collective::key, key, &page::Collective::root,
           static_cast<std::uint64_t>(std::int64_t{fan.root} + 1));
  if (counts == nullptr) return lose();
  statistics::add(counts->calls, 1);
  statistics::add(counts->bytes, bytes);
  statistics::add(counts->ticks, ticks);
}

page::Site* Recorder::site(std::uint32_t path, MpiCall call, std::uint32_t comm_size) {
  return slot(table<page::Site>(TableKind::kSites), entries(TableKind::kSites), &page::Site::key,
              page::site_key(path, static_cast<std::uint16_t>(call)), &page::Site::comm_size, comm_size);
}

}  // namespace nplus1::stubs::statistics
