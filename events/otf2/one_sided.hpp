// One-sided communication in OTF2's terms: the records of what a rank does to a window, and the end of each transfer in the
// call that the rank waits for it in. Epochs of groups (post, start, wait), flushes of what is reusable and MPI_Win_lock_all
// have regions only. Memory per transfer that nobody has waited for.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "events/sink.hpp"

namespace nplus1::events::otf2 {

/// A window, and a member of its group.
struct Target {
  OTF2_RmaWinRef window = 0;
  std::uint32_t rank = 0;
};

class OneSidedRecords {
 public:
  /// A kOneSided, when it begins.
  void write_transfer(OTF2_EvtWriter* writer, std::uint64_t time, const TimedEvent& event,
                      const Target& target);
  /// A kWindowSync, when it begins and when it has ended.
  static void write_sync_start(OTF2_EvtWriter* writer, std::uint64_t time, const TimedEvent& event);
  void write_sync_end(OTF2_EvtWriter* writer, std::uint64_t time, const TimedEvent& event,
                      const Target& target);

 private:
  struct Transfer {
    std::int32_t target;
    std::uint64_t id;
  };
  void write_completions(OTF2_EvtWriter* writer, std::uint64_t time, const TimedEvent& event,
                         OTF2_RmaWinRef window);

  std::map<std::pair<std::uint32_t, std::int32_t>, std::vector<Transfer>> under_way_;  // by window and origin
  std::uint64_t last_id_ = 0;
};

}  // namespace nplus1::events::otf2
