// The exporter: each call becomes Enter, OTF2's record of what it did, and Leave.
#include <fmt/format.h>
#include <otf2/OTF2_AttributeList.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <unordered_map>

#include "events/exchange/new_file.hpp"
#include "events/otf2/attributes.hpp"
#include "events/otf2/checksums.hpp"
#include "events/otf2/collectives.hpp"
#include "events/otf2/definition_writer.hpp"
#include "events/otf2/file_records.hpp"
#include "events/otf2/one_sided.hpp"
#include "events/otf2/otf2.hpp"
#include "events/otf2/quiet.hpp"

namespace nplus1::events::otf2 {
namespace {

namespace fs = std::filesystem;
using exchange::Exported;
using exchange::NewFolder;

constexpr std::uint64_t kEventChunk = 256 << 10;  // many locations have little to say

/// No definition is longer than a chunk of them, and the library fills one for each rank with zeros: long ones where there
/// are many members of a group to name, or a property is long.
std::uint64_t definition_chunk(const exchange::Preamble& preamble) {
  constexpr std::uint64_t kUsual = 1 << 20, kLong = 4 << 20, kMostBytesOfARank = 10;
  std::uint64_t longest = static_cast<std::uint64_t>(preamble.ranks) * kMostBytesOfARank;
  for (const auto& [key, value] : preamble.properties)
    longest = std::max<std::uint64_t>(longest, value.size());
  return longest > kUsual / 2 ? kLong : kUsual;
}

OTF2_FlushType always_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}
constexpr OTF2_FlushCallbacks kFlush{always_flush, nullptr};

struct CloseArchive {
  void operator()(OTF2_Archive* archive) const { OTF2_Archive_Close(archive); }
};
struct DeleteList {
  void operator()(OTF2_AttributeList* list) const { OTF2_AttributeList_Delete(list); }
};

std::uint64_t timestamp(Time time) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time.time_since_epoch().count(), 0));
}

bool only_enters(EventKind kind) {
  return kind == EventKind::kRegionBegin || kind == EventKind::kUnmodelledEnter;
}
bool only_leaves(EventKind kind) {
  return kind == EventKind::kRegionEnd || kind == EventKind::kUnmodelledExit;
}
bool is_region(EventKind kind) {
  return kind == EventKind::kRegionBegin || kind == EventKind::kRegionEnd;
}

class ArchiveWriter final : public exchange::Exporter {
 public:
  ArchiveWriter(NewFolder folder, OTF2_Archive* archive, std::int32_t ranks)
      : folder_{std::move(folder)},
        archive_{archive},
        list_{OTF2_AttributeList_New()},
        definitions_{ranks},
        ranks_{ranks} {
    Communicator world{CommId{0}, {}, 0};
    for (std::int32_t rank = 0; rank < ranks; ++rank) world.members.emplace_back(rank);
    definitions_.add(world);
  }

  void add_property(const std::string& key, const std::string& value) {
    definitions_.add_property(key, value);
  }
  void on_communicator(const Communicator& communicator) override { definitions_.add(communicator); }
  void on_call_path(const CallPath& path) override { definitions_.add(path); }
  void on_region(const Region& region) override { definitions_.add(region); }
  void on_datatype(const Datatype& datatype) override { definitions_.add(datatype); }
  void on_match(RankId receiver, const Answer& match) override {
    if (match.request == kNoRequest) return;  // a blocking receive's: its own exit says the same
    started_[key(receiver, match.request)].match = match;
    ++unused_matches_;
  }
  void on_event(const TimedEvent& event) override;
  Result<Exported> close() override;

 private:
  struct Location {
    OTF2_EvtWriter* writer = nullptr;
    RankId rank;
    ThreadId thread;
    std::uint64_t last_time = 0;
    Time last_exit{};
  };
  /// What is known of a request until it completes.
  struct Started {
    Event event;
    Moved moved;
    Answer match;
  };

  static std::uint64_t key(RankId rank, RequestId request) {
    return (static_cast<std::uint64_t>(rank.index()) << 32) | request.value;
  }
  static std::uint64_t forward(Location& location, Time time) {
    return location.last_time = std::max(location.last_time, timestamp(time));
  }
  Location& location(RankId rank, ThreadId thread);
  OTF2_RegionRef region(const Event& event) {
    return is_region(event.kind) ? definitions_.region(RegionId{static_cast<std::uint32_t>(event.aux)})
                                 : definitions_.region(event.call);
  }
  void describe(const TimedEvent& event, const exchange::StoredEvent& prediction);
  void write_lists(Location& at, const TimedEvent& event);
  void write_start(Location& at, const TimedEvent& event);
  void write_end(Location& at, const TimedEvent& event);
  void write_sync_end(Location& at, const TimedEvent& event);
  void write_completions(Location& at, const TimedEvent& event);
  void write_completion(Location& at, RankId rank, std::uint32_t request);
  void write_receive(Location& at, const Event& posted, const Answer& match, RequestId request);
  void write_collective_end(Location& at, const Event& event, const Moved& moved, RequestId request);
  [[nodiscard]] Moved moved(const TimedEvent& event) const;
  [[nodiscard]] std::uint32_t in_communicator(CommId comm, std::int32_t world_rank) const;
  [[nodiscard]] std::uint32_t root_of(const Event& event) const;
  void write_local_definitions();

  NewFolder folder_;
  std::unique_ptr<OTF2_Archive, CloseArchive> archive_;
  std::unique_ptr<OTF2_AttributeList, DeleteList> list_;
  DefinitionWriter definitions_;
  std::int32_t ranks_;
  std::map<OTF2_LocationRef, Location> locations_;
  std::unordered_map<std::uint64_t, Started> started_;
  OneSidedRecords one_sided_;
  FileRecords files_;
  std::uint64_t events_ = 0;
  std::uint64_t unused_matches_ = 0;
};

ArchiveWriter::Location& ArchiveWriter::location(RankId rank, ThreadId thread) {
  Location& found = locations_[location_of(rank, thread)];
  if (found.writer == nullptr)
    found = {OTF2_Archive_GetEvtWriter(archive_.get(), location_of(rank, thread)), rank, thread, 0, {}};
  return found;
}

/// Fills list_ with what the records will not say.
void ArchiveWriter::describe(const TimedEvent& event, const exchange::StoredEvent& prediction) {
  add_attributes(values_of(event), values_of(prediction.view()), list_.get());
  const auto context = definitions_.context(event.event.site);
  if (!context) return;
  const auto first = static_cast<OTF2_AttributeRef>(attributes().size());
  OTF2_AttributeList_AddSourceCodeLocationRef(list_.get(), first, *context);
  OTF2_AttributeList_AddCallingContextRef(list_.get(), first + 1, *context);
}

void ArchiveWriter::on_event(const TimedEvent& event) {
  ++events_;
  const Event& e = event.event;
  Location& at = location(event.rank, e.thread);
  const std::uint64_t entered = forward(at, e.entry());
  const bool instant = only_enters(e.kind) || only_leaves(e.kind);
  const Time start{Duration{static_cast<std::int64_t>(entered)}};
  const bool finished = event.exit != kUnfinished;
  const Time end = instant || !finished ? start : std::max(start, event.exit);
  auto prediction = predict(start, instant || finished ? end : kUnfinished, at.last_exit);
  describe(event, prediction);
  at.last_exit = end;
  if (only_leaves(e.kind)) {
    OTF2_EvtWriter_Leave(at.writer, list_.get(), entered, region(e));
    return;
  }
  OTF2_EvtWriter_Enter(at.writer, list_.get(), entered, region(e));
  write_lists(at, event);
  write_start(at, event);
  if (instant || !finished) return;
  forward(at, end);
  write_end(at, event);
  OTF2_EvtWriter_Leave(at.writer, nullptr, at.last_time, region(e));
}

void ArchiveWriter::write_lists(Location& at, const TimedEvent& event) {
  for (const std::uint32_t word : event.extension.words)
    OTF2_EvtWriter_ParameterUnsignedInt(at.writer, nullptr, at.last_time, kWords, word);
  for (const std::int64_t size : event.extension.sizes)
    OTF2_EvtWriter_ParameterInt(at.writer, nullptr, at.last_time, kSizes, size);
  for (const std::uint32_t position : event.completed)
    OTF2_EvtWriter_ParameterUnsignedInt(at.writer, nullptr, at.last_time, kCompleted, position);
}

std::uint32_t ArchiveWriter::in_communicator(CommId comm, std::int32_t world_rank) const {
  const Communicator* communicator = definitions_.communicator(comm);
  if (comm.value == 0 || communicator == nullptr) return static_cast<std::uint32_t>(world_rank);
  const auto& members = communicator->members;
  return static_cast<std::uint32_t>(std::find(members.begin(), members.end(), RankId{world_rank}) -
                                    members.begin());
}

std::uint32_t ArchiveWriter::root_of(const Event& event) const {
  return has_root(event.collective()) && event.peer >= 0 ? static_cast<std::uint32_t>(event.peer)
                                                         : OTF2_UNDEFINED_UINT32;
}

Moved ArchiveWriter::moved(const TimedEvent& event) const {
  const Event& e = event.event;
  const Communicator* communicator = definitions_.communicator(e.comm);
  if (communicator == nullptr || communicator->first_group != 0) return {};
  const auto& members = communicator->members;
  const bool is_root = e.peer >= 0 && static_cast<std::size_t>(e.peer) < members.size() &&
                       members[static_cast<std::size_t>(e.peer)] == event.rank;
  return bytes_moved({e.collective(), e.size, event.extension.sizes, members.size(), is_root});
}

void ArchiveWriter::write_start(Location& at, const TimedEvent& event) {
  const Event& e = event.event;
  const auto size = static_cast<std::uint64_t>(e.size);
  const auto tag = static_cast<std::uint32_t>(e.tag);
  const auto receiver = e.peer < 0 ? 0 : in_communicator(e.comm, e.peer);
  if (e.request.value != 0 && e.kind != EventKind::kCancelled) {
    Started& started = started_[key(event.rank, e.request)];
    started.event = e;
    if (e.kind == EventKind::kIcollective) started.moved = moved(event);
  }
  switch (e.kind) {
    case EventKind::kSend:
      if (e.peer >= 0)
        OTF2_EvtWriter_MpiSend(at.writer, nullptr, at.last_time, receiver, e.comm.value, tag, size);
      break;
    case EventKind::kIsend:
      if (e.peer >= 0)
        OTF2_EvtWriter_MpiIsend(at.writer, nullptr, at.last_time, receiver, e.comm.value, tag, size,
                                e.request.value);
      break;
    case EventKind::kIrecv:
      if (e.peer != kProcNull.value)
        OTF2_EvtWriter_MpiIrecvRequest(at.writer, nullptr, at.last_time, e.request.value);
      break;
    case EventKind::kCancelled:
      OTF2_EvtWriter_MpiRequestCancelled(at.writer, nullptr, at.last_time, e.request.value);
      break;
    case EventKind::kCollective:
      OTF2_EvtWriter_MpiCollectiveBegin(at.writer, nullptr, at.last_time);
      break;
    case EventKind::kIcollective:
      OTF2_EvtWriter_NonBlockingCollectiveRequest(at.writer, nullptr, at.last_time, e.request.value);
      break;
    case EventKind::kOneSided:
      if (const auto window = definitions_.window(e.comm); window && e.peer >= 0)
        one_sided_.write_transfer(at.writer, at.last_time, event, {*window, receiver});
      break;
    case EventKind::kWindowSync:
      if (definitions_.window(e.comm)) OneSidedRecords::write_sync_start(at.writer, at.last_time, event);
      break;
    case EventKind::kFileAccess:
      if (names_file(e)) definitions_.open_file(e.comm, RegionId{static_cast<std::uint32_t>(e.aux)});
      if (const auto file = definitions_.file(e.comm))
        files_.write_start(at.writer, at.last_time, event, *file);
      break;
    default:
      break;
  }
}

void ArchiveWriter::write_end(Location& at, const TimedEvent& event) {
  switch (event.event.kind) {
    case EventKind::kRecv:
      write_receive(at, event.event, event.answer, kNoRequest);
      break;
    case EventKind::kCollective:
      write_collective_end(at, event.event, moved(event), kNoRequest);
      break;
    case EventKind::kWait:
    case EventKind::kTest:
      write_completions(at, event);
      break;
    case EventKind::kWindowSync:
      write_sync_end(at, event);
      break;
    case EventKind::kFileAccess:
      if (const auto file = definitions_.file(event.event.comm))
        files_.write_end(at.writer, at.last_time, event, *file);
      break;
    default:
      break;
  }
}

void ArchiveWriter::write_sync_end(Location& at, const TimedEvent& event) {
  const Event& e = event.event;
  const auto window = definitions_.window(e.comm);
  if (!window) return;
  const std::uint32_t target = e.peer < 0 ? 0 : in_communicator(e.comm, e.peer);
  one_sided_.write_sync_end(at.writer, at.last_time, event, {*window, target});
}

void ArchiveWriter::write_receive(Location& at, const Event& posted, const Answer& match, RequestId request) {
  if (posted.peer == kProcNull.value || match.source < 0) return;
  const auto sender = in_communicator(posted.comm, match.source);
  const auto tag = static_cast<std::uint32_t>(match.tag);
  const auto size = static_cast<std::uint64_t>(match.size);
  if (request == kNoRequest) {
    OTF2_EvtWriter_MpiRecv(at.writer, nullptr, at.last_time, sender, posted.comm.value, tag, size);
    return;
  }
  add_attributes(values_of({at.rank, posted, {}, {}, match}), values_of({at.rank, posted, {}, {}}),
                 list_.get());
  OTF2_EvtWriter_MpiIrecv(at.writer, list_.get(), at.last_time, sender, posted.comm.value, tag, size,
                          request.value);
  --unused_matches_;
}

void ArchiveWriter::write_collective_end(Location& at, const Event& event, const Moved& moved,
                                         RequestId request) {
  const auto operation = operation_of(event.collective());
  if (request == kNoRequest) {
    OTF2_EvtWriter_MpiCollectiveEnd(at.writer, nullptr, at.last_time, operation, event.comm.value,
                                    root_of(event), moved.sent, moved.received);
  } else {
    OTF2_EvtWriter_NonBlockingCollectiveComplete(at.writer, nullptr, at.last_time, operation,
                                                 event.comm.value, root_of(event), moved.sent, moved.received,
                                                 request.value);
  }
}

void ArchiveWriter::write_completions(Location& at, const TimedEvent& event) {
  const auto requests = event.extension.words;
  const bool keeps = event.event.has(kKeepsRequests);
  const bool all = event.event.completion_mode() == CompletionMode::kAll;
  const bool done = event.event.kind == EventKind::kWait || event.answer.flag != 0;
  if (all && done && !keeps) {
    for (const std::uint32_t request : requests) write_completion(at, event.rank, request);
  } else if (!done || keeps) {
    for (const std::uint32_t request : requests) {
      if (started_.count(key(event.rank, RequestId{request})) != 0)
        OTF2_EvtWriter_MpiRequestTest(at.writer, nullptr, at.last_time, request);
    }
  } else {
    for (const std::uint32_t position : event.completed) write_completion(at, event.rank, requests[position]);
  }
}

void ArchiveWriter::write_completion(Location& at, RankId rank, std::uint32_t request) {
  const auto found = started_.find(key(rank, RequestId{request}));
  if (found == started_.end()) return;  // inactive: it completed before
  const Started& started = found->second;
  const RequestId id{request};
  if (started.event.kind == EventKind::kIsend && started.event.peer >= 0) {
    OTF2_EvtWriter_MpiIsendComplete(at.writer, nullptr, at.last_time, request);
  } else if (started.event.kind == EventKind::kIrecv && started.match.kind == AnswerKind::kMatch) {
    write_receive(at, started.event, started.match, id);
  } else if (started.event.kind == EventKind::kIcollective) {
    write_collective_end(at, started.event, started.moved, id);
  } else if (const auto file = definitions_.file(started.event.comm);
             file && started.event.kind == EventKind::kFileAccess) {
    files_.write_completion(at.writer, at.last_time, rank, started.event, *file);
  }
  started_.erase(found);
}

/// Ours hold nothing, but readers expect the files.
void ArchiveWriter::write_local_definitions() {
  OTF2_Archive_OpenDefFiles(archive_.get());
  for (const auto& [ref, location] : locations_)
    OTF2_Archive_CloseDefWriter(archive_.get(), OTF2_Archive_GetDefWriter(archive_.get(), ref));
  OTF2_Archive_CloseDefFiles(archive_.get());
}

Result<Exported> ArchiveWriter::close() {
  for (std::int32_t rank = 0; rank < ranks_; ++rank) location(RankId{rank}, ThreadId{0});
  std::vector<DefinitionWriter::Location> places;
  std::uint64_t last = 0;
  bool whole = true;
  for (auto& [ref, at] : locations_) {
    std::uint64_t count = 0;
    OTF2_EvtWriter_GetNumberOfEvents(at.writer, &count);
    places.push_back({at.rank, at.thread, count});
    last = std::max(last, at.last_time);
    whole = OTF2_Archive_CloseEvtWriter(archive_.get(), at.writer) == OTF2_SUCCESS && whole;
  }
  OTF2_Archive_CloseEvtFiles(archive_.get());
  write_local_definitions();
  OTF2_GlobalDefWriter* writer = OTF2_Archive_GetGlobalDefWriter(archive_.get());
  definitions_.write(writer, places, last);
  whole = OTF2_Archive_CloseGlobalDefWriter(archive_.get(), writer) == OTF2_SUCCESS && whole;
  whole = OTF2_Archive_Close(archive_.release()) == OTF2_SUCCESS && whole;
  if (!whole)
    return Error{folder_.path().string() + ": OTF2 could not write the archive",
                 "make room there, or use another -o"};
  if (const auto summed = write_checksums(folder_.path()); !summed) return summed.error();
  if (const auto done = folder_.commit(); !done) return done.error();
  Exported result{events_, {}};
  if (unused_matches_ != 0)
    result.lost.push_back(fmt::format("{} matches of receives that were never completed", unused_matches_));
  return result;
}

}  // namespace

Result<std::unique_ptr<exchange::Exporter>> create(const fs::path& path, const exchange::Preamble& preamble) {
  keep_library_quiet();
  auto folder = NewFolder::create(path);
  if (!folder) return folder.error();
  OTF2_Archive* archive =
      OTF2_Archive_Open(folder.value().path().c_str(), "traces", OTF2_FILEMODE_WRITE, kEventChunk,
                        definition_chunk(preamble), OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (archive == nullptr)
    return Error{path.string() + ": OTF2 cannot make an archive there", "use another -o"};
  OTF2_Archive_SetFlushCallbacks(archive, &kFlush, nullptr);
  OTF2_Archive_SetSerialCollectiveCallbacks(archive);
  OTF2_Archive_SetCreator(archive, "nplus1");
  OTF2_Archive_OpenEvtFiles(archive);
  auto writer = std::make_unique<ArchiveWriter>(std::move(folder).value(), archive, preamble.ranks);
  for (const auto& [key, value] : preamble.properties) writer->add_property(key, value);
  return std::unique_ptr<exchange::Exporter>{std::move(writer)};
}

}  // namespace nplus1::events::otf2
