// The counting; what becomes of it is in statistics_results.cpp.
#include "patterns/message_statistics.hpp"

#include <algorithm>

#include "events/mpi_call.hpp"
#include "support/time_sum.hpp"

namespace nplus1::patterns {
namespace {

using events::EventKind;

/// Whether a call's time beyond its own overhead is waiting.
bool waits(EventKind kind) {
  return kind == EventKind::kSend || kind == EventKind::kRecv || kind == EventKind::kWait ||
         kind == EventKind::kProbe || kind == EventKind::kCollective || kind == EventKind::kWindowSync;
}

bool is_call(EventKind kind) {
  return events::is_modelled_call(kind) && kind != EventKind::kCancelled;
}

}  // namespace

MessageStatistics::MessageStatistics(std::size_t ranks, const netmodel::NetworkModel* network,
                                     const netmodel::Selection* collectives)
    : ranks_(ranks),
      point_to_point_{ranks},
      communicators_{ranks},
      files_{ranks},
      bins_{ranks},
      own_{ranks, network},
      wire_{ranks, collectives} {}

void MessageStatistics::on_event(const events::TimedEvent& timed) {
  const events::Event& event = timed.event;
  RankCounts& rank = ranks_.at(timed.rank.index());
  const Time end = timed.exit == events::kUnfinished ? event.entry() : std::max(timed.exit, event.entry());
  rank.end = std::max(rank.end, end);
  if (event.kind == EventKind::kUnmodelledExit) return leave_unmodelled(timed, rank, end);
  if (event.compute_ps > 0) {
    sum_up(rank.compute, event.compute());
    bins_.add_compute(timed.rank, event.entry() - event.compute(), event.entry());
  }
  if (is_call(event.kind)) return count_call(timed, rank, end);
  if (event.kind == EventKind::kUnmodelledEnter) return enter_unmodelled(timed, rank);
  if (event.kind == EventKind::kFinalize) files_.count_end(timed);
  rank.finalized = rank.finalized || (event.kind == EventKind::kFinalize && event.thread.value == 0);
}

void MessageStatistics::on_match(RankId receiver, const events::Answer& match) {
  own_.on_match(receiver, match);
}

void MessageStatistics::on_communicator(const events::Communicator& communicator) {
  communicators_.define(communicator);
}

void MessageStatistics::on_call_path(const events::CallPath& path) {
  sites_.define(path);
}

void MessageStatistics::count_call(const events::TimedEvent& timed, RankCounts& rank, Time end) {
  const events::Event& event = timed.event;
  const Duration own = own_.of(timed);
  Call call;
  call.time = end - event.entry();
  if (waits(event.kind)) call.waiting = std::max(Duration::zero(), call.time - own);
  if (event.kind == EventKind::kFileAccess) call.waiting = behind_others(timed, call.time);
  sum_up(rank.mpi, call.time);
  sum_up(rank.waiting, call.waiting);
  bins_.add_mpi(event.entry(), end);
  bins_.add_waiting(end - call.waiting, end);
  if (event.kind == EventKind::kSend || event.kind == EventKind::kIsend) count_message(timed, call);
  if (event.kind == EventKind::kCollective || event.kind == EventKind::kIcollective)
    count_collective(timed, rank, call);
  if (event.kind == EventKind::kOneSided) count_one_sided(timed, call);
  if (events::moves_file_bytes(event)) call.bytes = static_cast<std::uint64_t>(event.size);
  files_.count_call(timed, call.time, call.waiting);
  if (Communicators::Use* comm = communicators_.use(event.comm)) {
    comm->messages += call.messages;
    if (call.messages > 0) comm->bytes += call.bytes;
    sum_up(comm->time, call.time);
    sum_up(comm->waiting, call.waiting);
  }
  CallSites::Counts& site = sites_.of(event);
  if (begins_call(timed, rank)) ++site.calls;
  site.messages += call.messages;
  site.bytes += call.bytes;
  sum_up(site.time, call.time);
  sum_up(site.waiting, call.waiting);
  site.longest = std::max(site.longest, call.time);
}

/// A call may be several events, of which the first counts: both halves of a Sendrecv and the wait for them, each request
/// of a Startall (which all have the call's real time; without, nothing is computed between them), and the connection of
/// an intercommunicator, which is not modelled, with the modelled end of the call.
bool MessageStatistics::begins_call(const events::TimedEvent& timed, RankCounts& rank) {
  using events::MpiCall;
  const events::Event& event = timed.event;
  switch (static_cast<MpiCall>(event.call)) {
    case MpiCall::MPI_Sendrecv:
    case MpiCall::MPI_Sendrecv_c:
    case MpiCall::MPI_Sendrecv_replace:
    case MpiCall::MPI_Sendrecv_replace_c:
    case MpiCall::MPI_Isendrecv:
    case MpiCall::MPI_Isendrecv_c:
    case MpiCall::MPI_Isendrecv_replace:
    case MpiCall::MPI_Isendrecv_replace_c:
      return event.kind == EventKind::kIsend;
    case MpiCall::MPI_Intercomm_create:
      return event.kind != EventKind::kCollective;
    case MpiCall::MPI_Startall:
      break;
    default:
      rank.started.reset();
      return begins_file_call(event);
  }
  const std::int64_t wall = timed.detail == nullptr ? 0 : timed.detail->wall_entry_ns;
  const RankCounts::Started now{event.thread, event.site, wall};
  const bool further = rank.started == now && (wall != 0 || event.compute_ps == 0);
  rank.started = now;
  return !further;
}

void MessageStatistics::count_message(const events::TimedEvent& timed, Call& call) {
  const events::Event& event = timed.event;
  if (event.peer < 0) return;  // MPI_PROC_NULL: nothing travels
  add(point_to_point_, timed.rank, event.peer_rank(), event.size, timed.detail);
  bins_.add_message(event.entry(), event.size);
  call.messages = 1;
  call.bytes = static_cast<std::uint64_t>(event.size);
}

/// From the origin to the target, whichever way the bytes go: both together.
void MessageStatistics::count_one_sided(const events::TimedEvent& timed, Call& call) {
  const events::Event& event = timed.event;
  if (event.peer < 0 || event.operation >= kOneSidedLayers.size()) return;
  std::unique_ptr<LayerCounts>& layer = one_sided_layers_[event.operation];
  if (!layer) layer = std::make_unique<LayerCounts>(ranks_.size());
  const std::int64_t bytes = event.size + static_cast<std::int64_t>(event.aux);
  add(*layer, timed.rank, event.peer_rank(), bytes, timed.detail);
  call.bytes = static_cast<std::uint64_t>(bytes);
}

void MessageStatistics::add(LayerCounts& layer, RankId from, RankId to, std::int64_t size,
                            const events::Detail* detail) {
  layer.pairs.add(from, to, size);
  layer.bytes.add(size);
  if (detail == nullptr) return;
  if (!layer.elements) layer.elements = std::make_unique<SizeCounts>();
  layer.elements->add(detail->count);
}

void MessageStatistics::count_collective(const events::TimedEvent& timed, RankCounts& rank, Call& call) {
  const events::Event& event = timed.event;
  if (event.collective() != CollectiveKind::kSynchronize) {
    ++rank.collective_calls;
    bins_.add_collective(event.entry());
    if (Communicators::Use* comm = communicators_.use(event.comm)) ++comm->collective_calls;
  }
  call.bytes = count_fan(timed);
  if (const events::Communicator* comm = communicators_.definition(event.comm)) wire_.count(timed, *comm);
  const bool blocking = event.kind == EventKind::kCollective;
  CollectiveCounts& counts =
      collectives_[{event.call, blocking, event.collective(), communicators_.size(event.comm), event.peer}];
  if (counts.calls.empty()) {
    counts.name = collective_name(event);
    counts.calls.resize(ranks_.size());
  }
  ++counts.calls[timed.rank.index()];
  counts.bytes += call.bytes;
  sum_up(counts.time, call.time);
  sum_up(counts.waiting, call.waiting);
}

/// The messages that a collective call stands for; their bytes.
std::uint64_t MessageStatistics::count_fan(const events::TimedEvent& timed) {
  const events::Communicator* comm = communicators_.definition(timed.event.comm);
  const Fan fan = fan_of(timed, comm);
  unplaced_ += fan.unplaced ? 1 : 0;
  if (timed.event.collective() >= CollectiveKind::kSynchronize) return 0;
  auto& layer = collective_layers_[static_cast<std::size_t>(timed.event.collective())];
  if (!layer) layer = std::make_unique<LayerCounts>(ranks_.size());
  std::uint64_t total = 0;
  const auto count = [&](RankId from, RankId to, std::int64_t size) {
    add(*layer, from, to, size, timed.detail);
    total += static_cast<std::uint64_t>(size);
  };
  if (fan.root && fan.to_root) count(timed.rank, *fan.root, *fan.to_root);
  if (fan.root && fan.from_root) count(*fan.root, timed.rank, *fan.from_root);
  for (std::size_t place = 0; place < fan.neighbors.size(); ++place) {
    const std::uint32_t member = fan.neighbors[place];
    const bool known = member < comm->members.size();
    unplaced_ += known ? 0 : 1;
    if (known && comm->members[member] != timed.rank)
      count(timed.rank, comm->members[member], bytes_to_neighbor(fan, place));
  }
  return total;
}

void MessageStatistics::enter_unmodelled(const events::TimedEvent& timed, RankCounts& rank) {
  ++unmodelled_calls_[timed.event.call];
  ++sites_.of(timed.event).calls;
  if (rank.unmodelled_depth++ > 0) return;
  rank.unmodelled_since = timed.event.entry();
  rank.unmodelled_call = timed.event;
}

void MessageStatistics::leave_unmodelled(const events::TimedEvent&, RankCounts& rank, Time end) {
  if (rank.unmodelled_depth == 0 || --rank.unmodelled_depth > 0) return;
  const Time begin = std::max(rank.unmodelled_since, rank.unmodelled_until);
  const Duration time = std::max(Duration::zero(), end - begin);
  rank.unmodelled_until = std::max(rank.unmodelled_until, end);
  sum_up(rank.unmodelled, time);
  sum_up(rank.mpi, time);
  if (time > Duration::zero()) bins_.add_mpi(begin, end);
  CallSites::Counts& site = sites_.of(rank.unmodelled_call);
  sum_up(site.time, time);
  site.longest = std::max(site.longest, time);
}

}  // namespace nplus1::patterns
