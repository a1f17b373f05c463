#include "tests/fuzz/events_of.hpp"

#include <cstring>

namespace nplus1::fuzz {

using events::Event;
using events::EventKind;

namespace {

/// Of extremes, too.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace

EventsOf::EventsOf(Choices& choices, std::int32_t ranks, events::EventSink& sink)
    : choices_{choices},
      ranks_{ranks},
      sink_{sink},
      members_{static_cast<std::size_t>(ranks)},
      clocks_(static_cast<std::size_t>(ranks)),
      ordinals_(static_cast<std::size_t>(ranks)),
      requests_(static_cast<std::size_t>(ranks)) {}

void EventsOf::all(int most) {
  for (int i = 0; i < most && !choices_.empty(); ++i) {
    if (choices_.once_in(12))
      definition();
    else if (choices_.once_in(8))
      match();
    else
      row();
  }
}

void EventsOf::definition() {
  const auto id = static_cast<std::uint32_t>(choices_.value(static_cast<std::int64_t>(members_.size()) + 1));
  switch (choices_.below(4)) {
    case 0: {
      events::Communicator c{CommId{id}, {}, 0};
      const std::size_t first = choices_.below(static_cast<std::uint64_t>(ranks_));
      const std::size_t size = 1 + choices_.below(static_cast<std::uint64_t>(ranks_) - first);
      for (std::size_t i = 0; i < size; ++i)
        c.members.emplace_back(
            static_cast<std::int32_t>(choices_.once_in(16) ? choices_.below(8) : first + i));
      if (choices_.once_in(3)) c.first_group = choices_.below(size + 1);
      if (id == members_.size()) members_.push_back(size);
      return sink_.on_communicator(c);
    }
    case 1:
      return sink_.on_call_path({CallSiteId{id}, {{"app", "00ff", 16U + id, "main", "app.c", id}}});
    case 2:
      return sink_.on_region({RegionId{id}, "region"});
    default:
      return sink_.on_datatype(
          {DatatypeId{id}, choices_.once_in(2) ? "MPI_DOUBLE" : "MPI_INT", choices_.value(9)});
  }
}

void EventsOf::transfer(Event& e, events::Answer& answer) {
  e.tag = static_cast<std::int32_t>(sum(choices_.value(4), choices_.once_in(4) ? -1 : 0));
  const bool sends = e.kind == EventKind::kSend || e.kind == EventKind::kIsend;
  if (e.kind == EventKind::kIsend || e.kind == EventKind::kIrecv)
    e.request =
        RequestId{choices_.once_in(24) ? static_cast<std::uint32_t>(choices_.value(8)) : ++requests_[rank_]};
  if (sends) {
    e.operation = static_cast<std::uint8_t>(choices_.once_in(4) ? choices_.below(5) : 0);
    answer.sequence = 0;
    for (const Sent& s : sent_)
      if (s.from == static_cast<std::int32_t>(rank_) && s.to == e.peer) answer.sequence = s.sequence + 1;
    if (choices_.once_in(16)) answer.sequence = static_cast<std::uint64_t>(choices_.value(9));
    sent_.push_back({e.peer, e.tag, answer.sequence, e.size, static_cast<std::int32_t>(rank_)});
    return;
  }
  answer.source = e.peer;
  answer.flag = choices_.once_in(3) ? 0 : 1;
  if (sent_.empty() || choices_.once_in(16)) return;
  const Sent& s = sent_[choices_.below(sent_.size())];
  rank_ = s.to >= 0 && s.to < ranks_ ? static_cast<std::size_t>(s.to) : rank_;
  e.peer = choices_.once_in(3) ? kAnySource.value : s.from;
  e.tag = choices_.once_in(3) ? kAnyTag : s.tag;
  answer.source = s.from;
  answer.tag = s.tag;
  answer.sequence = s.sequence;
  answer.size = s.size;
}

void EventsOf::completion(Event& e, events::Answer& answer) {
  e.operation = static_cast<std::uint8_t>(choices_.value(3));
  const std::uint64_t wanted = choices_.below(6);
  for (std::uint64_t i = 0; i < wanted; ++i)
    words_.push_back(static_cast<std::uint32_t>(choices_.value(requests_[rank_] + 1)));
  e.size = 0;
  e.aux = choices_.once_in(32) ? static_cast<std::uint64_t>(choices_.value(9)) : words_.size();
  answer.flag = choices_.once_in(3) ? 0 : 1;
  for (std::uint64_t i = choices_.below(wanted + 1); i > 0; --i)
    completed_.push_back(static_cast<std::uint32_t>(choices_.value(static_cast<std::int64_t>(wanted))));
  answer.index = completed_.empty() ? -1 : static_cast<std::int32_t>(completed_.front());
}

void EventsOf::one_sided(Event& e) {
  const auto ranks = static_cast<std::int64_t>(clocks_.size());
  e.comm = CommId{static_cast<std::uint32_t>(choices_.value(static_cast<std::int64_t>(members_.size())))};
  e.peer = static_cast<std::int32_t>(sum(choices_.value(ranks), choices_.once_in(6) ? -2 : 0));
  if (e.kind == EventKind::kOneSided) {
    e.operation = static_cast<std::uint8_t>(choices_.value(6));
    e.aux = static_cast<std::uint64_t>(choices_.value(5000));
    if (choices_.once_in(3)) e.request = RequestId{++requests_[rank_]};
    return;
  }
  e.operation = static_cast<std::uint8_t>(choices_.value(14));
  e.tag = static_cast<std::int32_t>(choices_.value(4));
  for (std::uint64_t i = choices_.below(3); i > 0; --i)
    words_.push_back(static_cast<std::uint32_t>(choices_.value(ranks)));
  e.aux = words_.size();
}

void EventsOf::file(Event& e) {
  e.comm = CommId{static_cast<std::uint32_t>(choices_.value(static_cast<std::int64_t>(members_.size())))};
  e.operation = static_cast<std::uint8_t>(choices_.value(6));
  e.tag = static_cast<std::int32_t>(choices_.value(16));
  if (e.operation != static_cast<std::uint8_t>(events::FileOperation::kOpen))
    e.aux = choices_.once_in(4) ? ~std::uint64_t{0} : static_cast<std::uint64_t>(choices_.value(5000));
  if (choices_.once_in(3)) e.request = RequestId{++requests_[rank_]};
}

void EventsOf::collective(Event& e) {
  e.operation = static_cast<std::uint8_t>(choices_.value(19));
  e.comm = CommId{static_cast<std::uint32_t>(choices_.value(static_cast<std::int64_t>(members_.size())))};
  const std::size_t p = e.comm.index() < members_.size() ? members_[e.comm.index()] : 1;
  e.peer = static_cast<std::int32_t>(
      sum(choices_.value(static_cast<std::int64_t>(p)), choices_.once_in(6) ? -3 : 0));
  if (e.kind == EventKind::kIcollective) e.request = RequestId{++requests_[rank_]};
  const std::uint64_t lists = choices_.below(4);
  const std::size_t entries = lists == 1 ? p : lists == 2 ? 2 * p : lists == 3 ? choices_.below(4) : 0;
  if (e.operation == 16 || e.operation == 17) {
    const std::uint64_t sources = choices_.below(3);
    const std::uint64_t destinations = choices_.below(3);
    words_ = {static_cast<std::uint32_t>(sources), static_cast<std::uint32_t>(destinations)};
    for (std::uint64_t i = 0; i < sources + destinations; ++i)
      words_.push_back(static_cast<std::uint32_t>(choices_.value(static_cast<std::int64_t>(p))));
    for (std::uint64_t i = 0; choices_.once_in(2) && i < 2 * destinations; ++i)
      words_.push_back(static_cast<std::uint32_t>(choices_.value(9)));
    e.aux = words_.size();
    return;
  }
  for (std::size_t i = 0; i < entries; ++i) sizes_.push_back(choices_.value(5000));
  e.aux = sizes_.size();
  if (!sizes_.empty()) e.flags |= events::kHasBytesPerMember;
}

/// Of the buffer of some call, earlier or later, or of none.
void EventsOf::access(Event& e) {
  e.operation = static_cast<std::uint8_t>(sum(16, choices_.value(4)));
  e.aux = static_cast<std::uint64_t>(choices_.value(static_cast<std::int64_t>(ordinals_[rank_]) + 2));
  e.peer = static_cast<std::int32_t>(sum(choices_.value(4), choices_.once_in(16) ? -9 : 0));
  e.tag = choices_.byte();
  if (choices_.once_in(2)) sizes_.push_back(choices_.value(5000));
}

void EventsOf::detail(events::Detail& d) {
  d.wall_before_ns = choices_.value(1000);
  d.wall_entry_ns = sum(d.wall_before_ns, choices_.value(1000));
  d.buffer = static_cast<std::uint64_t>(choices_.value(4096)) * 8;
  d.count = choices_.value(64);
  d.prefix = static_cast<std::uint64_t>(choices_.value(3));
  d.polynomial = static_cast<std::uint64_t>(choices_.value(3));
  d.crc = static_cast<std::uint32_t>(choices_.value(3));
  d.datatype = DatatypeId{static_cast<std::uint32_t>(choices_.value(3))};
  d.content = choices_.byte();
  for (std::uint8_t& b : d.reserved) b = choices_.byte();
  if (d.has_excerpt())
    for (std::uint64_t& word : d.excerpt) word = choices_.byte();
}

void EventsOf::row() {
  words_.clear();
  sizes_.clear();
  completed_.clear();
  rank_ = choices_.below(static_cast<std::uint64_t>(ranks_));
  Event e;
  events::Answer answer;
  answer.kind = events::AnswerKind::kExit;
  e.kind = static_cast<EventKind>(choices_.value(23));
  if (e.kind == EventKind::kNone && choices_.once_in(2))
    e.kind = choices_.once_in(3)   ? EventKind::kFileAccess
             : choices_.once_in(2) ? EventKind::kOneSided
                                   : EventKind::kWindowSync;
  e.call = static_cast<std::uint16_t>(choices_.value(60));
  e.site = CallSiteId{static_cast<std::uint32_t>(choices_.value(3))};
  e.thread = ThreadId{static_cast<std::uint16_t>(choices_.once_in(10) ? choices_.value(3) : 0)};
  e.peer = static_cast<std::int32_t>(sum(choices_.value(ranks_), choices_.once_in(8) ? -2 : 0));
  e.size = choices_.value(5000);
  e.aux = static_cast<std::uint64_t>(choices_.value(3));
  e.compute_ps = choices_.value(1000);
  e.flags = choices_.once_in(6) ? choices_.byte() : 0;
  switch (e.kind) {
    case EventKind::kSend:
    case EventKind::kIsend:
    case EventKind::kRecv:
    case EventKind::kIrecv:
    case EventKind::kProbe:
    case EventKind::kIprobe:
      transfer(e, answer);
      break;
    case EventKind::kWait:
    case EventKind::kTest:
      completion(e, answer);
      break;
    case EventKind::kCollective:
    case EventKind::kIcollective:
      collective(e);
      break;
    case EventKind::kCancelled:
    case EventKind::kRequestFree:
      e.request = RequestId{static_cast<std::uint32_t>(choices_.value(requests_[rank_] + 1))};
      break;
    case EventKind::kOneSided:
    case EventKind::kWindowSync:
      one_sided(e);
      break;
    case EventKind::kFileAccess:
      file(e);
      break;
    case EventKind::kLocal:
      if (accesses_) access(e);
      break;
    default:
      break;
  }
  std::int64_t& clock = clocks_[rank_];
  e.entry_ps = sum(clock, e.compute_ps);
  const std::int64_t exit = sum(e.entry_ps, choices_.value(2000));
  clock = exit >= 0 && exit < (std::int64_t{1} << 61U) ? exit : clock;
  answer.exit_ps = exit;
  events::Detail with;
  const bool has_detail = choices_.once_in(2);
  if (has_detail) detail(with);
  const std::uint64_t ordinal =
      choices_.once_in(40) ? static_cast<std::uint64_t>(choices_.value(9)) : ordinals_[rank_]++;
  sink_.on_event({RankId{static_cast<std::int32_t>(rank_)},
                  e,
                  {words_, sizes_},
                  choices_.once_in(30) ? events::kUnfinished : Time{Duration{exit}},
                  answer,
                  completed_,
                  has_detail ? &with : nullptr,
                  ordinal});
}

void EventsOf::match() {
  if (sent_.empty()) return;
  const Sent& s = sent_[choices_.below(sent_.size())];
  const std::size_t to = s.to >= 0 && s.to < ranks_ ? static_cast<std::size_t>(s.to) : 0;
  events::Answer answer;
  answer.kind = events::AnswerKind::kMatch;
  answer.request = RequestId{static_cast<std::uint32_t>(choices_.value(requests_[to] + 1))};
  answer.source = choices_.once_in(20) ? static_cast<std::int32_t>(choices_.value(ranks_)) : s.from;
  answer.tag = s.tag;
  answer.sequence = s.sequence;
  answer.size = s.size;
  answer.exit_ps = sum(clocks_[to], choices_.value(1000));
  sink_.on_match(RankId{static_cast<std::int32_t>(to)}, answer);
}

}  // namespace nplus1::fuzz
