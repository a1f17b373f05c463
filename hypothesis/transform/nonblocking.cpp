#include "hypothesis/transform/nonblocking.hpp"

#include <algorithm>
#include <deque>
#include <optional>

#include "events/mpi_call.hpp"
#include "hypothesis/transform/exchanges.hpp"
#include "hypothesis/transform/insert.hpp"
#include "hypothesis/transform/message_survey.hpp"

namespace nplus1::hypothesis::transform {
namespace {

using events::Event;
using events::EventKind;

constexpr std::uint64_t kMostCalls = 1000;

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

/// A call that waits for what may be posted before it.
struct Stored : RecordedCall {
  std::vector<events::Answer> matches;  // that follow it
  Buffer frees;                         // that a wait put in here gives back
};

Buffer buffer_of(const Stored& call) {
  return buffer_of(call.event, call.detail_or_null());
}

/// What is left of a call that is made elsewhere: its computing and its place in recorded time.
Stored nothing_at(const Stored& call) {
  Stored local;
  local.event.kind = EventKind::kLocal;
  local.event.thread = call.event.thread;
  local.event.call = call.event.call;
  local.event.site = call.event.site;
  local.event.compute_ps = call.event.compute_ps;
  local.event.entry_ps = call.event.entry_ps;
  local.finished = true;
  local.took = call.took;
  local.matches = call.matches;
  return local;
}

/// Time in front of each call that is neither the call before nor computing.
std::vector<std::int64_t> unexplained_before(const std::vector<Stored>& calls) {
  std::vector<std::int64_t> times{0};
  for (std::size_t i = 1; i < calls.size(); ++i) {
    const Event& e = calls[i].event;
    const std::int64_t exit_ps = calls[i - 1].event.entry_ps + calls[i - 1].took.count();
    times.push_back(std::max<std::int64_t>(0, e.entry_ps - e.compute_ps - exit_ps));
  }
  return times;
}

/// Whether the exchange ends with the other half of `call`'s MPI_Sendrecv.
bool other_half(const std::vector<Stored>& exchange, const Stored& call) {
  if (exchange.empty() || !is_half(call.event) || call.event.kind != EventKind::kIrecv) return false;
  const Event& last = exchange.back().event;
  return is_half(last) && last.kind == EventKind::kIsend && last.thread == call.event.thread;
}

bool is_receive(const Event& event) {
  return event.kind == EventKind::kRecv || event.kind == EventKind::kIrecv;
}

/// Of an MPI_Sendrecv its first half has the computing of a call; now both are calls.
void charge_second_halves(std::vector<Stored>& exchange, std::int64_t call) {
  for (Stored& e : exchange)
    if (is_half(e.event) && e.event.kind == EventKind::kIrecv)
      e.event.compute_ps = std::max(e.event.compute_ps, call);
}

/// What the user asks for.
struct Wanted {
  std::uint64_t post = 1, wait_sends = 1, wait_receives = 0;
  bool dependent = false;  // what is sent may depend on what has just been received
};

class NonBlocking final : public Transform {
 public:
  NonBlocking(MessageSelector selector, const Wanted& wanted, std::string nothing)
      : selector_{std::move(selector)}, wanted_{wanted}, nothing_{std::move(nothing)} {}

  [[nodiscard]] events::EventSink* survey() override {
    survey_ = std::make_unique<ExchangeSurvey>(call_interval(), [this](const MessageCalls& m) { found(m); });
    return survey_.get();
  }
  [[nodiscard]] Result<Done> surveyed() override {
    survey_->finish();
    if (selected_ == 0 && halves_ > 0)
      return Error{nothing_ + " but MPI_Sendrecv, whose halves start and end where they are",
                   "add post=0,wait=0: with its neighbours it becomes one exchange"};
    if (selected_ == 0) return Error{nothing_, ""};
    return Done{};
  }
  void on_event(const events::TimedEvent& event) override;
  void on_match(RankId receiver, const events::Answer& match) override;
  void finish() override {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      end_exchange(ranks_[r]);
      flush(RankId{static_cast<std::int32_t>(r)}, 0);
    }
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
    std::deque<Stored> calls;      // the latest, not handed on yet
    std::vector<Stored> exchange;  // selected calls that follow each other at once
    std::vector<Open> open;
    std::uint64_t inserted = 0;
    std::uint64_t first_ordinal = 0;  // of the next call handed on
    std::uint32_t requests = kFirstConvertedRequest;
  };

  void found(const MessageCalls& m) {
    if (!selector_.matches({m.source, m.send_site}, {m.destination, m.receive_site}, m.tag, m.comm, m.size))
      return;
    if (m.receive_blocks && m.posted != MessageCalls::kNone) select(m.destination, m.posted);
    if (m.send_blocks) select(m.source, m.sent);
    if (!m.send_is_half && !m.receive_is_half) return;
    ++halves_;
    if (!in_place()) return;
    if (m.receive_is_half && m.posted != MessageCalls::kNone) select(m.destination, m.posted);
    if (m.send_is_half) select(m.source, m.sent);
  }
  /// Nothing is posted earlier or waited for later than where the exchange is.
  [[nodiscard]] bool in_place() const {
    return wanted_.post == 0 && wanted_.wait_sends == 0 && wanted_.wait_receives == 0;
  }
  void select(std::int32_t rank, std::uint64_t ordinal) {
    marks_.set(rank, ordinal);
    ++selected_;
  }
  void restart() override { ranks_.clear(); }
  void change(RankId, std::uint64_t, Call&) override {}

  [[nodiscard]] bool selects(const events::TimedEvent& timed, const Stored& call) const;
  [[nodiscard]] bool goes_with(const Rank& rank, const Stored& call) const;
  [[nodiscard]] bool belongs(const Rank& rank, const Stored& call) const;
  void close(Rank& rank, const events::TimedEvent& next_call);
  void close_one(Rank& rank, const Open& open, std::int64_t at_ps);
  void end_exchange(Rank& rank);
  [[nodiscard]] bool stays_as_it_is(const std::vector<Stored>& exchange) const;
  std::int64_t post_receives(Rank& rank, std::vector<Stored>& exchange, std::vector<Open>& started);
  void post_receive(Rank& rank, Stored posted, const Buffer& buffer);
  void wait_for(Rank& rank, const std::vector<Open>& started, std::int64_t at_ps);
  void flush(RankId rank, std::size_t keep);

  MessageSelector selector_;
  Wanted wanted_;
  std::string nothing_;
  std::unique_ptr<ExchangeSurvey> survey_;
  Marks marks_;
  std::uint64_t selected_ = 0, halves_ = 0;
  std::vector<Rank> ranks_;
};

void NonBlocking::on_event(const events::TimedEvent& timed) {
  if (timed.rank.index() >= ranks_.size()) ranks_.resize(timed.rank.index() + 1);
  Rank& rank = ranks_[timed.rank.index()];
  Stored call;
  call.assign(timed);
  const bool selected = selects(timed, call);
  if (!rank.exchange.empty()) {
    if ((selected || goes_with(rank, call)) && belongs(rank, call)) {
      rank.exchange.push_back(std::move(call));
      return;
    }
    // Where one half of a call does not belong, the call does not.
    std::optional<Stored> half;
    if (other_half(rank.exchange, call)) {
      half = std::move(rank.exchange.back());
      rank.exchange.pop_back();
    }
    end_exchange(rank);
    flush(timed.rank, wanted_.post);
    if (half) {
      if (rank.calls.empty()) rank.first_ordinal = timed.ordinal - 1 + rank.inserted;
      rank.exchange.push_back(*std::move(half));
      rank.exchange.push_back(std::move(call));
      return;
    }
  }
  if (rank.calls.empty()) rank.first_ordinal = timed.ordinal + rank.inserted;
  // What is due is waited for before this call, but after the computing before it.
  const std::size_t had = rank.calls.size();
  close(rank, timed);
  if (rank.calls.size() > had) {
    const std::int64_t own = std::min(call.event.compute_ps, call_interval().count());
    rank.calls[had].event.compute_ps += call.event.compute_ps - own;
    call.event.compute_ps = own;
  }
  if (selected)
    rank.exchange.push_back(std::move(call));
  else
    rank.calls.push_back(std::move(call));
  flush(timed.rank, wanted_.post);
}

void NonBlocking::on_match(RankId receiver, const events::Answer& match) {
  if (receiver.index() < ranks_.size() && !ranks_[receiver.index()].exchange.empty())
    ranks_[receiver.index()].exchange.back().matches.push_back(match);
  else if (receiver.index() < ranks_.size() && !ranks_[receiver.index()].calls.empty())
    ranks_[receiver.index()].calls.back().matches.push_back(match);
  else
    next().on_match(receiver, match);
}

bool NonBlocking::selects(const events::TimedEvent& timed, const Stored& call) const {
  return call.finished && (is_blocking_message(call.event) || is_half(call.event)) &&
         marks_.has(timed.rank, timed.ordinal);
}

/// What is not selected itself: no message, or another part of an MPI_Sendrecv.
bool NonBlocking::goes_with(const Rank& rank, const Stored& call) const {
  if (is_nothing(call.event)) return true;
  if (!in_place()) return false;
  return is_wait_for_both(call.event) || other_half(rank.exchange, call) ||
         (is_half(call.event) && call.event.peer == kProcNull.value);
}

/// Whether `call` can be started together with the exchange before it.
bool NonBlocking::belongs(const Rank& rank, const Stored& call) const {
  const Stored* last = nullptr;
  for (const Stored& e : rank.exchange)
    if (!is_nothing(e.event)) last = &e;
  if (call.event.thread != last->event.thread) return false;
  if (is_nothing(call.event)) return true;
  if (is_wait_for_both(call.event)) return is_half(last->event);
  const bool same_call = other_half(rank.exchange, call);
  if (!same_call && !survey_->at_once(last->event.site.value, call.event.site.value)) return false;
  const bool receives = is_receive(call.event);
  const Buffer buffer = buffer_of(call);
  for (const Open& open : rank.open)
    if (open.buffer.overlaps(buffer)) return false;
  for (const Stored& e : rank.exchange) {
    if (is_nothing(e.event) || is_wait_for_both(e.event) || e.event.peer == kProcNull.value) continue;
    if (same_call && &e == last) continue;
    const bool received = is_receive(e.event);
    // Two sends may read the same memory.
    if ((receives || received) && buffer_of(e).overlaps(buffer)) return false;
    if (received && !receives && call.event.peer != kProcNull.value &&
        (wanted_.dependent || survey_->forwards(e.event.site.value, call.event.site.value)))
      return false;
  }
  return true;
}

/// Waits for what is due, or in the way, before the next call of its thread.
void NonBlocking::close(Rank& rank, const events::TimedEvent& timed) {
  const Buffer buffer = buffer_of(timed.event, timed.detail);
  const std::int64_t at = timed.event.entry_ps;
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

void NonBlocking::close_one(Rank& rank, const Open& open, std::int64_t at_ps) {
  wait_for(rank, {open}, at_ps);
  rank.calls.back().frees = open.buffer;
}

/// One MPI_Wait or MPI_Waitall, made at `at_ps` of the recorded time.
void NonBlocking::wait_for(Rank& rank, const std::vector<Open>& started, std::int64_t at_ps) {
  Stored wait;
  const bool one = started.size() == 1;
  wait.event.kind = EventKind::kWait;
  wait.event.call =
      static_cast<std::uint16_t>(one ? events::MpiCall::MPI_Wait : events::MpiCall::MPI_Waitall);
  wait.event.thread = started.front().thread;
  wait.event.site = started.back().made.site;
  wait.event.aux = started.size();
  wait.event.compute_ps = call_interval().count();
  wait.event.entry_ps = at_ps + wait.event.compute_ps;
  wait.finished = true;
  for (const Open& open : started) wait.words.push_back(open.request);
  ++rank.inserted;
  rank.calls.push_back(std::move(wait));
}

/// A call alone that would be waited for where it is stays what it is.
bool NonBlocking::stays_as_it_is(const std::vector<Stored>& exchange) const {
  const auto halves =
      std::count_if(exchange.begin(), exchange.end(), [](const Stored& e) { return is_half(e.event); });
  const auto waits = std::count_if(exchange.begin(), exchange.end(),
                                   [](const Stored& e) { return is_wait_for_both(e.event); });
  const auto messages = std::count_if(exchange.begin(), exchange.end(),
                                      [](const Stored& e) { return is_blocking_message(e.event); });
  if (halves > 0) return waits == 0 || messages + waits == 1;
  if (messages != 1) return false;
  const bool receives = exchange.front().event.kind == EventKind::kRecv;
  return receives ? wanted_.post == 0 && wanted_.wait_receives == 0 : wanted_.wait_sends == 0;
}

/// The calls collected start requests instead: receives first, then sends, then they are waited for.
void NonBlocking::end_exchange(Rank& rank) {
  std::vector<Stored> exchange = std::exchange(rank.exchange, {});
  if (exchange.empty()) return;
  if (stays_as_it_is(exchange)) {
    for (Stored& e : exchange) rank.calls.push_back(std::move(e));
    return;
  }
  const std::vector<std::int64_t> unexplained = unexplained_before(exchange);
  charge_second_halves(exchange, call_interval().count());
  std::vector<Open> started;
  std::int64_t end_ps = post_receives(rank, exchange, started);
  std::vector<events::Answer> matches;
  std::size_t receive = 0;
  for (std::size_t i = 0; i < exchange.size(); ++i) {
    Stored& e = exchange[i];
    e.event.entry_ps = end_ps + unexplained[i] + e.event.compute_ps;
    end_ps = e.event.entry_ps + e.took.count();
    if (is_wait_for_both(e.event)) {
      for (const std::uint32_t request : e.words)
        started.push_back({request, 0, e.event.thread, e.event, Buffer{}});
      e = nothing_at(e);
    } else if (is_half(e.event)) {
      // A call of its own now.
    } else if (!is_nothing(e.event) && e.event.kind == EventKind::kSend) {
      const std::uint32_t request = rank.requests++;
      started.push_back({request, wanted_.wait_sends, e.event.thread, e.event, buffer_of(e)});
      e.event.kind = EventKind::kIsend;
      e.event.call = static_cast<std::uint16_t>(events::MpiCall::MPI_Isend);
      e.event.request = RequestId{request};
    } else if (!is_nothing(e.event)) {
      events::Answer match = e.answer;
      match.kind = events::AnswerKind::kMatch;
      match.request = RequestId{started[receive++].request};
      match.exit_ps = end_ps;
      matches.push_back(match);
      e = nothing_at(e);  // the time that the receive took in the recording passes here
    }
    rank.calls.push_back(std::move(e));
  }
  auto& after = rank.calls.back().matches;
  after.insert(after.end(), matches.begin(), matches.end());
  std::vector<Open> now;
  for (const Open& open : started) (open.due == 0 ? now : rank.open).push_back(open);
  if (!now.empty()) wait_for(rank, now, end_ps);
}

/// When the last is posted, in recorded time.
std::int64_t NonBlocking::post_receives(Rank& rank, std::vector<Stored>& exchange,
                                        std::vector<Open>& started) {
  const std::int64_t call = call_interval().count();
  Event& front = exchange.front().event;
  const std::int64_t begin_ps = front.entry_ps - front.compute_ps;
  // Posted where the exchange is: behind the computing in front of it.
  const std::int64_t before = wanted_.post == 0 ? std::max<std::int64_t>(0, front.compute_ps - call) : 0;
  front.compute_ps -= before;
  std::int64_t carried = before;
  std::int64_t now = begin_ps;
  for (Stored& e : exchange) {
    if (is_nothing(e.event) || e.event.kind != EventKind::kRecv) continue;
    const std::int64_t own = std::min(call, e.event.compute_ps);
    e.event.compute_ps -= own;
    Stored posted;
    posted.event = e.event;
    posted.event.kind = EventKind::kIrecv;
    posted.event.call = static_cast<std::uint16_t>(events::MpiCall::MPI_Irecv);
    posted.event.request = RequestId{rank.requests++};
    posted.event.flags =
        static_cast<std::uint8_t>(e.event.flags & ~(events::kNeedsAnswer | events::kHasDetail));
    posted.event.compute_ps = own + std::exchange(carried, 0);
    now += posted.event.compute_ps;
    posted.event.entry_ps = now;
    posted.finished = true;
    const Buffer buffer = buffer_of(e);
    started.push_back({posted.event.request.value, wanted_.wait_receives, e.event.thread, e.event, buffer});
    post_receive(rank, std::move(posted), buffer);
  }
  front.compute_ps += carried;  // nobody receives
  return now;
}

/// Earlier by as many computing intervals of the thread as nothing is in the way.
void NonBlocking::post_receive(Rank& rank, Stored posted, const Buffer& buffer) {
  auto at = rank.calls.end();
  std::uint64_t passed = 0;
  for (auto it = rank.calls.end(); it != rank.calls.begin() && passed + 1 < wanted_.post;) {
    --it;
    if (might_take_the_same(posted.event, it->event) || it->event.kind == EventKind::kUnmodelledExit) break;
    if (buffer_of(*it).overlaps(buffer) || it->frees.overlaps(buffer)) break;
    if (it->event.thread != posted.event.thread) continue;
    ++passed;
    at = it;
  }
  if (at != rank.calls.end()) {  // before that call, and after the computing before it
    const std::int64_t own = std::min(at->event.compute_ps, call_interval().count());
    posted.event.compute_ps += std::exchange(at->event.compute_ps, own) - own;
    posted.event.entry_ps = at->event.entry_ps;
  }
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
  const std::string* dependent = step.find("dependent");
  if (dependent != nullptr && *dependent != "yes" && *dependent != "no")
    return bad_setting(step, "dependent",
                       "'no' or 'yes' (what is sent may depend on what was received just before)");
  const auto later = static_cast<std::uint64_t>(wait.value());
  const Wanted wanted{static_cast<std::uint64_t>(post.value()), step.find("wait") == nullptr ? 1 : later,
                      later, dependent != nullptr && *dependent == "yes"};
  return std::unique_ptr<Transform>{std::make_unique<NonBlocking>(
      std::move(selector).value(), wanted,
      step.where + ": '" + step.text() + "' is about no blocking call in the recording")};
}

}  // namespace nplus1::hypothesis::transform
