// Files in OTF2's terms: a handle's making and end, and the operations on it. What is done to a file as a whole, and the
// turn at its shared pointer, have regions only. Memory per operation that has not ended.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <utility>

#include "events/sink.hpp"

namespace nplus1::events::otf2 {

class FileRecords {
 public:
  /// A kFileAccess, when it begins and when it has ended.
  void write_start(OTF2_EvtWriter* writer, std::uint64_t time, const TimedEvent& event,
                   OTF2_IoHandleRef file);
  void write_end(OTF2_EvtWriter* writer, std::uint64_t time, const TimedEvent& event, OTF2_IoHandleRef file);
  /// One with a request, which has been waited for. `started`: as it began.
  void write_completion(OTF2_EvtWriter* writer, std::uint64_t time, RankId rank, const Event& started,
                        OTF2_IoHandleRef file);

 private:
  /// By rank and request, or the thread of one that blocks.
  using Key = std::pair<std::int32_t, std::uint64_t>;
  [[nodiscard]] static Key key(RankId rank, const Event& event);

  std::map<Key, std::uint64_t> under_way_;  // OTF2's number of the operation
  std::uint64_t last_ = 0;
};

}  // namespace nplus1::events::otf2
