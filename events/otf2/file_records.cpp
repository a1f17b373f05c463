#include "events/otf2/file_records.hpp"

namespace nplus1::events::otf2 {

FileRecords::Key FileRecords::key(RankId rank, const Event& event) {
  constexpr std::uint64_t kThread = std::uint64_t{1} << 32U;
  return {rank.value, event.request != kNoRequest ? event.request.value : kThread | event.thread.value};
}

void FileRecords::write_start(OTF2_EvtWriter* writer, std::uint64_t time, const TimedEvent& event,
                              OTF2_IoHandleRef file) {
  const Event& e = event.event;
  if (!moves_file_bytes(e)) return;
  const bool reads = e.file_operation() == FileOperation::kRead;
  const bool waits = e.request == kNoRequest;
  const bool together = (e.tag & kCollectiveAccess) != 0;
  const auto flags = static_cast<OTF2_IoOperationFlag>((waits ? 0 : OTF2_IO_OPERATION_FLAG_NON_BLOCKING) |
                                                       (together ? OTF2_IO_OPERATION_FLAG_COLLECTIVE : 0));
  const std::uint64_t number = under_way_[key(event.rank, e)] = ++last_;
  OTF2_EvtWriter_IoOperationBegin(writer, nullptr, time, file,
                                  reads ? OTF2_IO_OPERATION_MODE_READ : OTF2_IO_OPERATION_MODE_WRITE, flags,
                                  static_cast<std::uint64_t>(e.size), number);
  if (!waits) OTF2_EvtWriter_IoOperationIssued(writer, nullptr, time, file, number);
}

void FileRecords::write_end(OTF2_EvtWriter* writer, std::uint64_t time, const TimedEvent& event,
                            OTF2_IoHandleRef file) {
  const Event& e = event.event;
  if (e.file_operation() == FileOperation::kOpen)
    OTF2_EvtWriter_IoCreateHandle(writer, nullptr, time, file, OTF2_IO_ACCESS_MODE_READ_WRITE,
                                  OTF2_IO_CREATION_FLAG_NONE, OTF2_IO_STATUS_FLAG_NONE);
  else if (e.file_operation() == FileOperation::kClose)
    OTF2_EvtWriter_IoDestroyHandle(writer, nullptr, time, file);
  else if (moves_file_bytes(e) && e.request == kNoRequest)
    write_completion(writer, time, event.rank, e, file);
}

void FileRecords::write_completion(OTF2_EvtWriter* writer, std::uint64_t time, RankId rank,
                                   const Event& started, OTF2_IoHandleRef file) {
  const auto found = under_way_.find(key(rank, started));
  if (found == under_way_.end()) return;
  OTF2_EvtWriter_IoOperationComplete(writer, nullptr, time, file, static_cast<std::uint64_t>(started.size),
                                     found->second);
  under_way_.erase(found);
}

}  // namespace nplus1::events::otf2
