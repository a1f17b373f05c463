#include "events/otf2/location_reader.hpp"

#include <otf2/OTF2_AttributeList.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace nplus1::events::otf2 {
namespace {

using exchange::StoredEvent;

SendMode mode_of(MpiCall call) {
  const std::string_view rest = name(call).substr(4);
  if (rest[0] == 'S' && rest[1] == 's') return SendMode::kSynchronous;
  if (rest.rfind("Iss", 0) == 0) return SendMode::kSynchronous;
  if (rest[0] == 'B' || rest.rfind("Ib", 0) == 0) return SendMode::kBuffered;
  if (rest[0] == 'R' || rest.rfind("Ir", 0) == 0) return SendMode::kReady;
  return SendMode::kStandard;
}

bool starts_with_one_of(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return text.rfind(start, 0) == 0; });
}

CompletionMode completion_of(std::string_view call) {
  if (call.find("any") != std::string_view::npos) return CompletionMode::kAny;
  return call.find("some") != std::string_view::npos ? CompletionMode::kSome : CompletionMode::kAll;
}

}  // namespace

void LocationReader::advance(OTF2_TimeStamp ticks) {
  if (ticks < last_ticks_)
    throw Damaged{"time runs backward, from " + std::to_string(last_ticks_) + " to " + std::to_string(ticks)};
  last_ticks_ = ticks;
  now_ = definitions_.time(ticks);
}

std::vector<LocationReader::Override> LocationReader::overrides_of(const OTF2_AttributeList* list) const {
  std::vector<Override> found;
  const std::uint32_t count = OTF2_AttributeList_GetNumberOfElements(list);
  for (std::uint32_t i = 0; i < count; ++i) {
    OTF2_AttributeRef ref{};
    OTF2_Type type{};
    OTF2_AttributeValue value{};
    OTF2_AttributeList_GetAttributeByIndex(list, i, &ref, &type, &value);
    const auto place = definitions_.attribute(ref);
    const auto number = integer(type, value);
    if (place && number) found.emplace_back(*place, *number);
  }
  return found;
}

void LocationReader::emit(StoredEvent event, bool open) {
  event.rank = place_.rank;
  if (open) open_items_[event.event.request.value] = popped_ + items_.size();
  items_.push_back({now_, std::move(event), false, {}, open});
}

/// An attribute stands where the prediction was not enough.
void LocationReader::emit_ours(const Call& call, Time exit) {
  StoredEvent event = predict(call.entry, exit, last_exit_);
  Values values = values_of(event.view());
  for (const auto& [place, value] : call.overrides) values[place] = value;
  set_values(values, event);
  event.words = call.lists.words;
  event.sizes = call.lists.sizes;
  event.completed = call.lists.completed;
  last_exit_ = exit == kUnfinished ? call.entry : exit;
  emit(std::move(event));
}

void LocationReader::emit_region(EventKind kind, OTF2_RegionRef region) {
  StoredEvent event = predict(now_, now_, last_exit_);
  event.event.kind = kind;
  event.event.thread = place_.thread;
  event.event.aux = definitions_.user_region(region).value;
  last_exit_ = now_;
  emit(std::move(event));
}

void LocationReader::enter(OTF2_RegionRef region, const OTF2_AttributeList* list) {
  const std::string name = definitions_.region_name(region);
  Call call{now_, region, call_named(name).value_or(MpiCall::kNone), false, false, overrides_of(list), {}, {},
            {},   {}};
  call.ours = !call.overrides.empty();
  if (call.ours) {
    const auto kind = static_cast<EventKind>(call.overrides.front().second);
    call.instant = kind == EventKind::kRegionBegin || kind == EventKind::kUnmodelledEnter;
    if (call.instant) emit_ours(call, now_);
  } else if (call.call == MpiCall::kNone) {
    call.instant = true;
    emit_region(EventKind::kRegionBegin, region);
  }
  stack_.push_back(std::move(call));
}

void LocationReader::leave(const OTF2_AttributeList* list) {
  auto overrides = overrides_of(list);
  if (!overrides.empty()) {  // ours, of a kind that only leaves
    Call call{now_, 0, MpiCall::kNone, true, true, std::move(overrides), {}, {}, {}, {}};
    emit_ours(call, now_);
    if (!stack_.empty()) stack_.pop_back();
    return;
  }
  if (stack_.empty()) throw Damaged{"a region is left that was not entered"};
  Call call = std::move(stack_.back());
  stack_.pop_back();
  if (call.ours) {
    if (!call.instant) emit_ours(call, now_);
  } else if (call.call == MpiCall::kNone) {
    emit_region(EventKind::kRegionEnd, call.region);
  } else {
    emit_others(call, now_);
  }
}

void LocationReader::parameter(OTF2_ParameterRef parameter, std::uint64_t value) {
  const auto list = definitions_.parameter(parameter);
  if (!list || stack_.empty() || !stack_.back().ours) return;
  StoredEvent& lists = stack_.back().lists;
  if (*list == 0) lists.words.push_back(static_cast<std::uint32_t>(value));
  if (*list == 1) lists.sizes.push_back(static_cast<std::int64_t>(value));
  if (*list == 2) lists.completed.push_back(static_cast<std::uint32_t>(value));
}

/// The next event of the call that is open; some tools leave the call itself out.
StoredEvent& LocationReader::add(EventKind kind) {
  if (stack_.empty() || stack_.back().call == MpiCall::kNone) {
    missing_.insert("the MPI calls around some records: they count as calls without duration");
    stack_.push_back({now_, 0, MpiCall::kNone, false, false, {}, {}, {}, {}, {}});
    stack_.back().events.emplace_back().event.kind = kind;
    Call call = std::move(stack_.back());
    stack_.pop_back();
    emit_others(call, now_);
    return items_.back().event;
  }
  StoredEvent& event = stack_.back().events.emplace_back();
  event.event.kind = kind;
  return event;
}

void LocationReader::set_message(Event& event, const Message& message) const {
  const Comm* comm = definitions_.comm(message.comm);
  if (comm == nullptr)
    throw Damaged{"a message in a communicator that is not defined: " + std::to_string(message.comm)};
  const auto& members = comm->communicator.members;
  const std::size_t first = comm->communicator.first_group;
  // In an intercommunicator the peer's rank counts in the group to which I don't belong.
  const auto middle = members.begin() + static_cast<std::ptrdiff_t>(first);
  const bool in_first = first != 0 && std::find(members.begin(), middle, place_.rank) != middle;
  const std::size_t index = message.peer + (in_first ? first : 0);
  // EZTrace writes MPI_PROC_NULL as the library's own number, -1 or -2.
  const bool nobody = static_cast<std::int32_t>(message.peer) < 0;
  if (!nobody && !comm->self && index >= members.size())
    throw Damaged{"a message with a rank that its communicator does not have: " +
                  std::to_string(message.peer)};
  event.peer = nobody ? kProcNull.value : comm->self ? place_.rank.value : members[index].value;
  event.comm = comm->communicator.id;
  event.tag = static_cast<std::int32_t>(message.tag);
  event.size = static_cast<std::int64_t>(message.size);
}

void LocationReader::set_collective(Event& event, const Collective& collective) const {
  const Comm* comm = definitions_.comm(collective.comm);
  const auto kind = kind_of(collective.operation);
  if (comm == nullptr)
    throw Damaged{"a collective on a communicator that is not defined: " + std::to_string(collective.comm)};
  if (!kind)
    throw Damaged{"a collective operation that MPI does not have: " + std::to_string(collective.operation)};
  const auto& members = comm->communicator.members;
  const bool rooted = has_root(*kind) && collective.root < members.size();
  const bool is_root = rooted && members[collective.root] == place_.rank;
  event.operation = static_cast<std::uint8_t>(*kind);
  event.comm = comm->communicator.id;
  event.peer = rooted ? static_cast<std::int32_t>(collective.root) : -1;
  event.size = size_from(*kind, collective.moved, members.size(), is_root);
}

/// A number that is used again before its completion was seen (EZTrace does not record all): that one stays
/// unknown.
std::uint32_t LocationReader::start(std::uint64_t request) {
  if (const auto found = active_.find(request); found != active_.end()) {
    if (Item* item = open_item(found->second)) leave_unknown(*item);
  }
  return active_[request] = ++requests_;
}

/// 0 for a request that is not known: it was started before the recording.
std::uint32_t LocationReader::complete(std::uint64_t request) {
  const auto found = active_.find(request);
  if (found == active_.end()) return 0;
  const std::uint32_t ours = found->second;
  active_.erase(found);
  if (!stack_.empty()) stack_.back().completed.push_back(ours);
  return ours;
}

LocationReader::Item* LocationReader::open_item(std::uint32_t request) {
  const auto found = open_items_.find(request);
  if (found == open_items_.end()) return nullptr;
  Item& item = items_[found->second - popped_];
  open_items_.erase(found);
  item.open = false;
  return &item;
}

/// Where the start of a request stands: in the stream, or still in the call (MPI_Sendrecv).
Event* LocationReader::posted_event(std::uint32_t request) {
  if (Item* item = open_item(request)) return &item->event.event;
  if (stack_.empty()) return nullptr;
  auto& inside = stack_.back().events;
  const auto found = std::find_if(inside.begin(), inside.end(),
                                  [&](const StoredEvent& e) { return e.event.request.value == request; });
  return found == inside.end() ? nullptr : &found->event;
}

void LocationReader::sent(const Message& message) {
  if (!definitions_.is_ours()) set_message(add(EventKind::kSend).event, message);
}

void LocationReader::sent(const Message& message, std::uint64_t request) {
  if (definitions_.is_ours()) return;
  Event& event = add(EventKind::kIsend).event;
  event.request = RequestId{start(request)};
  set_message(event, message);
}

void LocationReader::receive_posted(std::uint64_t request) {
  if (definitions_.is_ours()) return;
  const auto ours = start(request);
  Event& event = add(EventKind::kIrecv).event;
  event.request = RequestId{ours};
  event.peer = kAnySource.value;
  missing_.insert(
      "the source and tag with which receives were posted: each counts as posted for what it got");
}

void LocationReader::received(const Message& message) {
  if (definitions_.is_ours()) return;
  StoredEvent& event = add(EventKind::kRecv);
  set_message(event.event, message);
  event.answer.source = event.event.peer;
  event.answer.tag = event.event.tag;
  event.answer.size = event.event.size;
  missing_.insert(
      "the source and tag with which receives were posted: each counts as posted for what it got");
}

void LocationReader::received(const Message& message, std::uint64_t request, const OTF2_AttributeList* list) {
  Answer match;
  if (definitions_.is_ours()) {
    StoredEvent carrier;
    Values values = values_of(carrier.view());
    for (const auto& [place, value] : overrides_of(list)) values[place] = value;
    set_values(values, carrier);
    match = carrier.answer;
  } else {
    Event posted;
    set_message(posted, message);
    const auto ours = complete(request);
    if (ours == 0) return;
    if (Event* event = posted_event(ours)) {
      event->peer = posted.peer, event->tag = posted.tag, event->size = posted.size,
      event->comm = posted.comm;
    }
    match.kind = AnswerKind::kMatch;
    match.thread = place_.thread;
    match.request = RequestId{ours};
    match.source = posted.peer;
    match.tag = posted.tag;
    match.size = posted.size;
    match.exit_ps = picoseconds(now_);
  }
  items_.push_back({now_, {}, true, match, false});
}

void LocationReader::send_completed(std::uint64_t request) {
  if (!definitions_.is_ours()) complete(request);
}

void LocationReader::tested(std::uint64_t request) {
  const auto found = active_.find(request);
  if (definitions_.is_ours() || stack_.empty() || found == active_.end()) return;
  stack_.back().tested.push_back(found->second);
}

void LocationReader::cancelled(std::uint64_t request) {
  const auto found = active_.find(request);
  if (definitions_.is_ours() || found == active_.end()) return;
  const std::uint32_t ours = found->second;
  active_.erase(found);
  open_item(ours);
  add(EventKind::kCancelled).event.request = RequestId{ours};
}

void LocationReader::collective(const Collective& collective) {
  if (!definitions_.is_ours()) set_collective(add(EventKind::kCollective).event, collective);
}

void LocationReader::collective_posted(std::uint64_t request) {
  if (definitions_.is_ours()) return;
  const auto ours = start(request);
  add(EventKind::kIcollective).event.request = RequestId{ours};
}

void LocationReader::collective(const Collective& collective, std::uint64_t request) {
  if (definitions_.is_ours()) return;
  Item* item = open_item(complete(request));
  if (item != nullptr) set_collective(item->event.event, collective);
}

/// A Wait or Test: what it completed, or did not.
void LocationReader::add_completion(Call& call) {
  const std::string_view name = events::name(call.call);
  const bool test = name.rfind("MPI_Test", 0) == 0;
  StoredEvent& event = call.events.emplace_back();
  event.event.kind = test ? EventKind::kTest : EventKind::kWait;
  const CompletionMode mode = completion_of(name);
  event.event.operation = static_cast<std::uint8_t>(mode);
  event.words = call.completed.empty() ? call.tested : call.completed;
  event.event.aux = event.words.size();
  event.answer.flag = !test || !call.completed.empty() ? 1 : 0;
  if (mode == CompletionMode::kAll) return;
  for (std::uint32_t i = 0; i < call.completed.size(); ++i) event.completed.push_back(i);
  const auto done = static_cast<std::int32_t>(call.completed.size());
  event.answer.index = mode == CompletionMode::kSome ? done : done == 0 ? -1 : 0;
}

/// An MPI call without a record: what it is by its name.
void LocationReader::interpret_silence(Call& call) {
  const std::string_view name = events::name(call.call);
  Event& event = call.events.emplace_back().event;
  event.kind = EventKind::kLocal;
  if (name == "MPI_Finalize") event.kind = EventKind::kFinalize;
  const bool send = name == "MPI_Send" || name == "MPI_Ssend" || name == "MPI_Bsend" || name == "MPI_Rsend";
  if (send || name == "MPI_Recv") {
    event.kind = send ? EventKind::kSend : EventKind::kRecv;
    event.peer = kProcNull.value;
  } else if (starts_with_one_of(name, {"MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe"})) {
    missing_.insert("what probes looked for and found: they count as local calls");
  } else if (starts_with_one_of(name, {"MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Win", "MPI_File",
                                       "MPI_Raccumulate", "MPI_Fetch", "MPI_Compare_and"})) {
    missing_.insert("one-sided communication and MPI-IO: they count as local calls");
  }
}

void LocationReader::emit_others(Call& call, Time exit) {
  const bool sends_and_receives = call.events.size() > 1;
  for (StoredEvent& event : call.events) {
    // A send within a call that also receives (MPI_Sendrecv) must not wait for its own receive.
    if (!sends_and_receives || event.event.kind != EventKind::kSend) continue;
    event.event.kind = EventKind::kIsend;
    event.event.request = RequestId{++requests_};
    call.completed.push_back(event.event.request.value);
  }
  const std::string_view name = events::name(call.call);
  const bool completion = starts_with_one_of(name, {"MPI_Wait", "MPI_Test"}) && name != "MPI_Test_cancelled";
  if (completion || !call.completed.empty() || !call.tested.empty()) add_completion(call);
  if (call.events.empty()) interpret_silence(call);
  Time entry = call.entry;
  for (StoredEvent& said : call.events) {
    const bool last = &said == &call.events.back();
    StoredEvent event = predict(entry, last ? exit : entry, last_exit_);
    const Event timed = event.event;
    const Answer answered = event.answer;
    const Time out = event.exit;
    event = std::move(said);
    event.event.entry_ps = timed.entry_ps;
    event.event.compute_ps = timed.compute_ps;
    event.answer.kind = answered.kind;
    event.answer.exit_ps = answered.exit_ps;
    event.exit = out;
    event.event.thread = place_.thread;
    event.event.call = static_cast<std::uint16_t>(call.call);
    const EventKind kind = event.event.kind;
    if (kind == EventKind::kSend || kind == EventKind::kIsend)
      event.event.operation = call.call == MpiCall::kNone ? 0 : static_cast<std::uint8_t>(mode_of(call.call));
    const bool open = (kind == EventKind::kIrecv && event.event.peer == kAnySource.value) ||
                      kind == EventKind::kIcollective;
    last_exit_ = out;
    emit(std::move(event), open);
    entry = out;
  }
}

void LocationReader::leave_unknown(Item& item) {
  item.open = false;
  missing_.insert("what receives and non-blocking collectives were whose completion is not recorded");
  Event& event = item.event.event;
  if (event.kind == EventKind::kIrecv)
    event.tag = kAnyTag;
  else
    event.kind = EventKind::kLocal;  // which collective it was comes only with its completion
}

/// At the end of the records: what is still open stays so.
void LocationReader::finish() {
  for (const Call& call : stack_) {
    if (call.ours && !call.instant) emit_ours(call, kUnfinished);
  }
  stack_.clear();
  for (const auto& [request, place] : open_items_) {
    leave_unknown(items_[place - popped_]);
  }
  open_items_.clear();
}

}  // namespace nplus1::events::otf2
