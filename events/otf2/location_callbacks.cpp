// From the library's callbacks to LocationReader's functions.
#include "events/otf2/location_reader.hpp"

namespace nplus1::events::otf2 {
namespace {

constexpr std::uint64_t kBatch = 512;  // records at a time

using Location = OTF2_LocationRef;
using Ticks = OTF2_TimeStamp;
using List = OTF2_AttributeList*;
using Code = OTF2_CallbackCode;

LocationReader& reader_of(void* data) {
  return *static_cast<LocationReader*>(data);
}

Code on_unknown(Location, Ticks ticks, std::uint64_t, void* data, List) {
  return reader_of(data).guarded(ticks, [](LocationReader&) {});
}
Code on_enter(Location, Ticks ticks, std::uint64_t, void* data, List list, OTF2_RegionRef region) {
  return reader_of(data).guarded(ticks, [&](LocationReader& self) { self.enter(region, list); });
}
Code on_leave(Location, Ticks ticks, std::uint64_t, void* data, List list, OTF2_RegionRef) {
  return reader_of(data).guarded(ticks, [&](LocationReader& self) { self.leave(list); });
}
Code on_int(Location, Ticks ticks, std::uint64_t, void* data, List, OTF2_ParameterRef parameter,
            std::int64_t value) {
  return reader_of(data).guarded(
      ticks, [&](LocationReader& self) { self.parameter(parameter, static_cast<std::uint64_t>(value)); });
}
Code on_unsigned(Location, Ticks ticks, std::uint64_t, void* data, List, OTF2_ParameterRef parameter,
                 std::uint64_t value) {
  return reader_of(data).guarded(ticks, [&](LocationReader& self) { self.parameter(parameter, value); });
}
Code on_send(Location, Ticks ticks, std::uint64_t, void* data, List, std::uint32_t receiver,
             OTF2_CommRef comm, std::uint32_t tag, std::uint64_t size) {
  return reader_of(data).guarded(ticks, [&](LocationReader& self) {
    self.sent({receiver, comm, tag, size});
  });
}
Code on_isend(Location, Ticks ticks, std::uint64_t, void* data, List, std::uint32_t receiver,
              OTF2_CommRef comm, std::uint32_t tag, std::uint64_t size, std::uint64_t request) {
  return reader_of(data).guarded(ticks, [&](LocationReader& self) {
    self.sent({receiver, comm, tag, size}, request);
  });
}
Code on_isend_complete(Location, Ticks ticks, std::uint64_t, void* data, List, std::uint64_t request) {
  return reader_of(data).guarded(ticks, [&](LocationReader& self) { self.send_completed(request); });
}
Code on_irecv_request(Location, Ticks ticks, std::uint64_t, void* data, List, std::uint64_t request) {
  return reader_of(data).guarded(ticks, [&](LocationReader& self) { self.receive_posted(request); });
}
Code on_recv(Location, Ticks ticks, std::uint64_t, void* data, List, std::uint32_t sender, OTF2_CommRef comm,
             std::uint32_t tag, std::uint64_t size) {
  return reader_of(data).guarded(ticks, [&](LocationReader& self) {
    self.received({sender, comm, tag, size});
  });
}
Code on_irecv(Location, Ticks ticks, std::uint64_t, void* data, List list, std::uint32_t sender,
              OTF2_CommRef comm, std::uint32_t tag, std::uint64_t size, std::uint64_t request) {
  return reader_of(data).guarded(ticks, [&](LocationReader& self) {
    self.received({sender, comm, tag, size}, request, list);
  });
}
Code on_test(Location, Ticks ticks, std::uint64_t, void* data, List, std::uint64_t request) {
  return reader_of(data).guarded(ticks, [&](LocationReader& self) { self.tested(request); });
}
Code on_cancelled(Location, Ticks ticks, std::uint64_t, void* data, List, std::uint64_t request) {
  return reader_of(data).guarded(ticks, [&](LocationReader& self) { self.cancelled(request); });
}
Code on_collective(Location, Ticks ticks, std::uint64_t, void* data, List, OTF2_CollectiveOp operation,
                   OTF2_CommRef comm, std::uint32_t root, std::uint64_t sent, std::uint64_t received) {
  return reader_of(data).guarded(ticks, [&](LocationReader& self) {
    self.collective({operation, comm, root, {sent, received}});
  });
}
Code on_collective_request(Location, Ticks ticks, std::uint64_t, void* data, List, std::uint64_t request) {
  return reader_of(data).guarded(ticks, [&](LocationReader& self) { self.collective_posted(request); });
}
Code on_collective_complete(Location, Ticks ticks, std::uint64_t, void* data, List,
                            OTF2_CollectiveOp operation, OTF2_CommRef comm, std::uint32_t root,
                            std::uint64_t sent, std::uint64_t received, std::uint64_t request) {
  return reader_of(data).guarded(ticks, [&](LocationReader& self) {
    self.collective({operation, comm, root, {sent, received}}, request);
  });
}

struct DeleteEventCallbacks {
  void operator()(OTF2_EvtReaderCallbacks* callbacks) const { OTF2_EvtReaderCallbacks_Delete(callbacks); }
};
using EventCallbacks = std::unique_ptr<OTF2_EvtReaderCallbacks, DeleteEventCallbacks>;

EventCallbacks make_event_callbacks() {
  EventCallbacks all{OTF2_EvtReaderCallbacks_New()};
  OTF2_EvtReaderCallbacks_SetUnknownCallback(all.get(), on_unknown);
  OTF2_EvtReaderCallbacks_SetEnterCallback(all.get(), on_enter);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(all.get(), on_leave);
  OTF2_EvtReaderCallbacks_SetParameterIntCallback(all.get(), on_int);
  OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(all.get(), on_unsigned);
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(all.get(), on_send);
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(all.get(), on_isend);
  OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(all.get(), on_isend_complete);
  OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(all.get(), on_irecv_request);
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(all.get(), on_recv);
  OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(all.get(), on_irecv);
  OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(all.get(), on_test);
  OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(all.get(), on_cancelled);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(all.get(), on_collective);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(all.get(), on_collective_request);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(all.get(), on_collective_complete);
  return all;
}

}  // namespace

LocationReader::LocationReader(OTF2_Reader* reader, const DefinitionReader& definitions, const Place& place)
    : reader_{reader}, definitions_{definitions}, place_{place} {
  events_ = OTF2_Reader_GetEvtReader(reader, place.location);
  if (events_ == nullptr)
    throw Damaged{"the events of location " + std::to_string(place.location) + " cannot be opened"};
  OTF2_Reader_RegisterEvtCallbacks(reader, events_, make_event_callbacks().get(), this);
}

void LocationReader::close() {
  if (events_ != nullptr) OTF2_Reader_CloseEvtReader(reader_, events_);
  events_ = nullptr;
}

/// Ours are bounded by the declared number of records: after a short file the library would go on for ever.
/// EZTrace declares 2 whatever there is, so others are read to the end that the library sees; if it goes
/// round in circles, time runs backward.
void LocationReader::fill() {
  const std::uint64_t wanted = definitions_.is_ours() ? std::min(place_.events - read_, kBatch) : kBatch;
  std::uint64_t got = 0;
  const auto status = OTF2_Reader_ReadLocalEvents(reader_, events_, wanted, &got);
  const std::string where = "location " + std::to_string(place_.location) + ": ";
  if (!trouble_.empty()) throw Damaged{where + trouble_};
  if (status != OTF2_SUCCESS)
    throw Damaged{where + "record " + std::to_string(read_ + got) + " cannot be read"};
  read_ += got;
  ended_ = got < wanted || (definitions_.is_ours() && read_ == place_.events);
  if (ended_ && read_ < place_.events)
    throw Damaged{where + std::to_string(read_) + " of " + std::to_string(place_.events) +
                  " records are there"};
  if (ended_) finish();
}

const LocationReader::Item* LocationReader::front() {
  while (!ended_ && (items_.empty() || items_.front().open)) fill();
  if (items_.empty()) {
    if (!stack_.empty()) finish();
    if (items_.empty()) return nullptr;
  }
  return &items_.front();
}

}  // namespace nplus1::events::otf2
