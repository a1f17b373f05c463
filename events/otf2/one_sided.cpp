#include "events/otf2/one_sided.hpp"

#include <algorithm>

namespace nplus1::events::otf2 {
namespace {

constexpr std::uint64_t kTheLock = 0;  // a member's window has one

OTF2_RmaAtomicType atomic_of(OneSidedOperation operation) {
  switch (operation) {
    case OneSidedOperation::kCompareAndSwap:
      return OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP;
    case OneSidedOperation::kGetAccumulate:
    case OneSidedOperation::kFetchAndOp:
      return OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE;
    default:
      return OTF2_RMA_ATOMIC_TYPE_ACCUMULATE;
  }
}

/// Whether all transfers (to the call's target, where it names one) are there when it returns.
bool completes(WindowSync what) {
  switch (what) {
    case WindowSync::kFence:
    case WindowSync::kComplete:
    case WindowSync::kUnlock:
    case WindowSync::kUnlockAll:
    case WindowSync::kFlush:
    case WindowSync::kFlushAll:
      return true;
    default:
      return false;
  }
}

bool names_target(WindowSync what) {
  return what == WindowSync::kUnlock || what == WindowSync::kFlush;
}

}  // namespace

void OneSidedRecords::write_transfer(OTF2_EvtWriter* writer, std::uint64_t time, const TimedEvent& event,
                                     const Target& target) {
  const Event& e = event.event;
  const auto there = static_cast<std::uint64_t>(e.size);
  const std::uint64_t id = ++last_id_;
  under_way_[{e.comm.value, event.rank.value}].push_back({e.peer, id});
  const auto operation = static_cast<OneSidedOperation>(e.operation);
  if (operation == OneSidedOperation::kPut)
    OTF2_EvtWriter_RmaPut(writer, nullptr, time, target.window, target.rank, there, id);
  else if (operation == OneSidedOperation::kGet)
    OTF2_EvtWriter_RmaGet(writer, nullptr, time, target.window, target.rank, e.aux, id);
  else
    OTF2_EvtWriter_RmaAtomic(writer, nullptr, time, target.window, target.rank, atomic_of(operation), there,
                             e.aux, id);
}

void OneSidedRecords::write_sync_start(OTF2_EvtWriter* writer, std::uint64_t time, const TimedEvent& event) {
  if (event.event.window_sync() == WindowSync::kFence)
    OTF2_EvtWriter_RmaCollectiveBegin(writer, nullptr, time);
}

void OneSidedRecords::write_sync_end(OTF2_EvtWriter* writer, std::uint64_t time, const TimedEvent& event,
                                     const Target& target) {
  const Event& e = event.event;
  const WindowSync what = e.window_sync();
  if (completes(what)) write_completions(writer, time, event, target.window);
  if (what == WindowSync::kFence)
    OTF2_EvtWriter_RmaCollectiveEnd(writer, nullptr, time, OTF2_COLLECTIVE_OP_BARRIER,
                                    OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY, target.window,
                                    OTF2_UNDEFINED_UINT32, 0, 0);
  if (e.peer < 0) return;
  if (what == WindowSync::kLock)
    OTF2_EvtWriter_RmaAcquireLock(writer, nullptr, time, target.window, target.rank, kTheLock,
                                  (e.tag & kExclusiveLock) != 0 ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED);
  else if (what == WindowSync::kUnlock)
    OTF2_EvtWriter_RmaReleaseLock(writer, nullptr, time, target.window, target.rank, kTheLock);
}

void OneSidedRecords::write_completions(OTF2_EvtWriter* writer, std::uint64_t time, const TimedEvent& event,
                                        OTF2_RmaWinRef window) {
  const Event& e = event.event;
  const auto found = under_way_.find({e.comm.value, event.rank.value});
  if (found == under_way_.end()) return;
  std::vector<Transfer>& transfers = found->second;
  const bool all = !names_target(e.window_sync());
  const auto ended = [&](const Transfer& transfer) { return all || transfer.target == e.peer; };
  for (const Transfer& transfer : transfers)
    if (ended(transfer)) OTF2_EvtWriter_RmaOpCompleteRemote(writer, nullptr, time, window, transfer.id);
  transfers.erase(std::remove_if(transfers.begin(), transfers.end(), ended), transfers.end());
  if (transfers.empty()) under_way_.erase(found);
}

}  // namespace nplus1::events::otf2
