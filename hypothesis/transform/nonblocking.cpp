#include "hypothesis/transform/nonblocking.hpp"

#include <algorithm>
#include <deque>

#include "events/mpi_call.hpp"
#include "hypothesis/transform/insert.hpp"
#include "hypothesis/transform/message_survey.hpp"

namespace nplus1::hypothesis::transform {
namespace {

using events::Event;
using events::EventKind;

constexpr std::uint64_t kMostCalls = 1000;

/// A call that waits for what may be posted before it.
struct Stored : RecordedCall {
  std::vector<events::Answer> matches;  // that follow it
};

bool takes_messages(EventKind kind) {
  return kind == EventKind::kRecv || kind == EventKind::kIrecv || kind == EventKind::kProbe ||
         kind == EventKind::kIprobe;
}

bool might_take_the_same(const Event& a, const Event& b) {
  const auto meet = [](std::int32_t x, std::int32_t y) {
    return x == y || x == kAnySource.value || y == kAnySource.value;
  };
  static_assert(kAnySource.value == kAnyTag);
  return takes_messages(b.kind) && a.comm == b.comm && meet(a.peer, b.peer) && meet(a.tag, b.tag);
}

/// A range of memory, as far as it is known; an unknown one is empty.
struct Buffer {
  std::uint64_t begin = 0, end = 0;
  [[nodiscard]] bool overlaps(const Buffer& other) const {
    return begin != 0 && other.begin != 0 && begin < other.end && other.begin < end;
  }
};

Buffer buffer_of(const Event& event, const events::Detail* detail) {
  if (detail == nullptr || detail->buffer == 0) return {};
  return {detail->buffer, detail->buffer + static_cast<std::uint64_t>(std::max<std::int64_t>(1, event.size))};
}

class NonBlocking final : public Transform {
 public:
  NonBlocking(MessageSelector selector, std::uint64_t post, std::uint64_t wait_sends,
              std::uint64_t wait_receives, std::string nothing)
      : selector_{std::move(selector)},
        post_{post},
        wait_sends_{wait_sends},
        wait_receives_{wait_receives},
        nothing_{std::move(nothing)} {}

  [[nodiscard]] events::EventSink* survey() override { return &survey_; }
  [[nodiscard]] Result<Done> surveyed() override {
    survey_.finish();
    if (selected_ == 0) return Error{nothing_, ""};
    return Done{};
  }
  void on_event(const events::TimedEvent& event) override;
  void on_match(RankId receiver, const events::Answer& match) override;
  void finish() override {
    for (std::size_t r = 0; r < ranks_.size(); ++r) flush(RankId{static_cast<std::int32_t>(r)}, 0);
  }

 private:
  /// A request that was started and not yet waited for.
  struct Open {
    std::uint32_t request;
    std::uint64_t due;  // how many more calls of the thread
    ThreadId thread;
    Event made;
    Buffer buffer;
  };
  struct Rank {
    std::deque<Stored> calls;  // the latest, not handed on yet
    std::vector<Open> open;
    std::uint64_t inserted = 0;
    std::uint64_t first_ordinal = 0;  // of the next call handed on
    std::uint32_t requests = kFirstConvertedRequest;
  };

  void found(const MessageCalls& m) {
    if (!selector_.matches({m.source, m.send_site}, {m.destination, m.receive_site}, m.tag, m.comm, m.size))
      return;
    if (m.request == 0 && m.posted != MessageCalls::kNone) select(m.destination, m.posted);
    if (m.send_blocks) select(m.source, m.sent);
  }
  void select(std::int32_t rank, std::uint64_t ordinal) {
    marks_.set(rank, ordinal);
    ++selected_;
  }
  void restart() override { ranks_.clear(); }
  void change(RankId, std::uint64_t, Call&) override {}

  void close(Rank& rank, const events::TimedEvent& next_call);
  void close_one(Rank& rank, const Open& open, Event& next_call);
  void convert(Rank& rank, Stored call);
  void post_receive(Rank& rank, const Event& receive, std::uint32_t request, const Buffer& buffer);
  void flush(RankId rank, std::size_t keep);

  MessageSelector selector_;
  std::uint64_t post_, wait_sends_, wait_receives_;
  std::string nothing_;
  MessageSurvey survey_{[this](const MessageCalls& m) { found(m); }};
  Marks marks_;
  std::uint64_t selected_ = 0;
  std::vector<Rank> ranks_;
};

void NonBlocking::on_event(const events::TimedEvent& timed) {
  if (timed.rank.index() >= ranks_.size()) ranks_.resize(timed.rank.index() + 1);
  Rank& rank = ranks_[timed.rank.index()];
  if (rank.calls.empty()) rank.first_ordinal = timed.ordinal + rank.inserted;
  Stored call;
  call.assign(timed);
  // What is due is waited for before this call, but after the computing before it.
  const std::int64_t compute = call.event.compute_ps;
  const std::size_t had = rank.calls.size();
  close(rank, timed);
  if (rank.calls.size() > had) {
    rank.calls[had].event.compute_ps = compute;
    call.event.compute_ps = 0;
  }
  const bool blocking = call.event.kind == EventKind::kSend || call.event.kind == EventKind::kRecv;
  if (blocking && call.finished && marks_.has(timed.rank, timed.ordinal))
    convert(rank, std::move(call));
  else
    rank.calls.push_back(std::move(call));
  flush(timed.rank, post_);
}

void NonBlocking::on_match(RankId receiver, const events::Answer& match) {
  if (receiver.index() < ranks_.size() && !ranks_[receiver.index()].calls.empty())
    ranks_[receiver.index()].calls.back().matches.push_back(match);
  else
    next().on_match(receiver, match);
}

/// Waits for what is due, or in the way, before the next call of its thread.
void NonBlocking::close(Rank& rank, const events::TimedEvent& timed) {
  const Buffer buffer = buffer_of(timed.event, timed.detail);
  Event at = timed.event;
  for (std::size_t i = 0; i < rank.open.size();) {
    Open& open = rank.open[i];
    const bool mine = open.thread == timed.event.thread;
    const bool ends = timed.event.kind == EventKind::kFinalize;
    if (mine && !ends && open.due > 1 && !open.buffer.overlaps(buffer)) {
      --open.due;
      ++i;
      continue;
    }
    if (!mine && !(ends && timed.event.thread.value == 0)) {
      ++i;
      continue;
    }
    const Open done = std::move(open);
    rank.open.erase(rank.open.begin() + static_cast<std::ptrdiff_t>(i));
    close_one(rank, done, at);
  }
}

void NonBlocking::close_one(Rank& rank, const Open& open, Event& next_call) {
  Stored wait;
  wait.event.kind = EventKind::kWait;
  wait.event.call = static_cast<std::uint16_t>(events::MpiCall::MPI_Wait);
  wait.event.thread = open.thread;
  wait.event.site = open.made.site;
  wait.event.aux = 1;
  wait.event.entry_ps = next_call.entry_ps;
  wait.finished = true;
  wait.words = {open.request};
  ++rank.inserted;
  rank.calls.push_back(std::move(wait));
}

/// A blocking call starts a request instead; a receive may start earlier.
void NonBlocking::convert(Rank& rank, Stored call) {
  const std::uint32_t request = rank.requests++;
  const bool receive = call.event.kind == EventKind::kRecv;
  const Buffer buffer = buffer_of(call.event, call.has_detail ? &call.detail : nullptr);
  Open open{request, receive ? wait_receives_ : wait_sends_, call.event.thread, call.event, buffer};
  if (!receive) {
    call.event.kind = EventKind::kIsend;
    call.event.call = static_cast<std::uint16_t>(events::MpiCall::MPI_Isend);
    call.event.request = RequestId{request};
    rank.calls.push_back(std::move(call));
    if (open.due > 0) return rank.open.push_back(open);
    Event after = rank.calls.back().event;
    return close_one(rank, open, after);
  }
  events::Answer match = call.answer;
  match.kind = events::AnswerKind::kMatch;
  match.request = RequestId{request};
  match.exit_ps = (call.event.entry() + call.took).time_since_epoch().count();
  post_receive(rank, call.event, request, buffer);
  if (post_ == 0) call.event.compute_ps = 0;
  // Where the receive was there is a wait, or only the computing before it.
  call.event.kind = EventKind::kLocal;
  Stored rest;
  rest.event = call.event;
  rest.event.request = {};
  rest.event.size = 0;
  rest.event.peer = rest.event.tag = 0;
  rest.event.flags = 0;
  rest.finished = true;
  rest.took = call.took;
  rest.matches = {match};
  if (wait_receives_ == 0) {
    rest.event.kind = EventKind::kWait;
    rest.event.call = static_cast<std::uint16_t>(events::MpiCall::MPI_Wait);
    rest.event.aux = 1;
    rest.words = {request};
    rest.matches.clear();
    if (!rank.calls.empty()) rank.calls.back().matches.push_back(match);
  } else {
    rest.event.aux = 0;
    rank.open.push_back(open);
  }
  rank.calls.push_back(std::move(rest));
}

/// Earlier by as many computing intervals of the thread as nothing is in the way.
void NonBlocking::post_receive(Rank& rank, const Event& receive, std::uint32_t request,
                               const Buffer& buffer) {
  auto at = rank.calls.end();
  std::uint64_t passed = 0;
  for (auto it = rank.calls.end(); it != rank.calls.begin() && passed + 1 < post_;) {
    --it;
    if (might_take_the_same(receive, it->event) || it->event.kind == EventKind::kUnmodelledExit) break;
    if (buffer_of(it->event, it->has_detail ? &it->detail : nullptr).overlaps(buffer)) break;
    if (it->event.thread != receive.thread) continue;
    ++passed;
    at = it;
  }
  Stored posted;
  posted.event = receive;
  posted.event.kind = EventKind::kIrecv;
  posted.event.call = static_cast<std::uint16_t>(events::MpiCall::MPI_Irecv);
  posted.event.request = RequestId{request};
  posted.event.flags =
      static_cast<std::uint8_t>(receive.flags & ~(events::kNeedsAnswer | events::kHasDetail));
  // Before that call, and after the computing before it.
  posted.event.compute_ps = 0;
  if (at != rank.calls.end()) {
    posted.event.compute_ps = std::exchange(at->event.compute_ps, 0);
    posted.event.entry_ps = at->event.entry_ps;
  } else if (post_ == 0) {
    posted.event.compute_ps = receive.compute_ps;
  } else {
    posted.event.entry_ps = receive.entry_ps - receive.compute_ps;
  }
  posted.finished = true;
  ++rank.inserted;
  rank.calls.insert(at, std::move(posted));
}

void NonBlocking::flush(RankId r, std::size_t keep) {
  Rank& rank = ranks_[r.index()];
  while (rank.calls.size() > keep) {
    const Stored call = std::move(rank.calls.front());
    rank.calls.pop_front();
    hand_on(next(), r, call, rank.first_ordinal++);
    for (const events::Answer& match : call.matches) next().on_match(r, match);
  }
}

}  // namespace

Result<std::unique_ptr<Transform>> make_nonblocking(const Step& step,
                                                    const events::DefinitionsCollector& names) {
  auto selector = MessageSelector::of(step, names);
  if (!selector) return selector.error();
  const auto post = parse_integer(step, "post", 1);
  if (!post) return post.error();
  const auto wait = parse_integer(step, "wait", 0);
  if (!wait) return wait.error();
  for (const auto* value : {&post, &wait})
    if (static_cast<std::uint64_t>(value->value()) > kMostCalls)
      return bad_setting(step, value == &post ? "post" : "wait", "at most 1000 intervals");
  const auto later = static_cast<std::uint64_t>(wait.value());
  return std::unique_ptr<Transform>{std::make_unique<NonBlocking>(
      std::move(selector).value(), static_cast<std::uint64_t>(post.value()),
      step.find("wait") == nullptr ? 1 : later, later,
      step.where + ": '" + step.text() + "' is about no blocking call in the recording")};
}

}  // namespace nplus1::hypothesis::transform
