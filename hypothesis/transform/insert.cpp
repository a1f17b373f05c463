#include "hypothesis/transform/insert.hpp"

#include <deque>

#include "events/mpi_call.hpp"

namespace nplus1::hypothesis::transform {
namespace {

using events::Event;
using events::EventKind;

/// Sequence numbers of messages that nobody recorded.
constexpr std::uint64_t kFirstSequence = std::uint64_t{1} << 40U;

/// MPI calls at the place; MPI_Sendrecv is several events, of which the last (the wait) does not count.
bool is_call_at(const Numbers& at, const Event& event) {
  if (event.site.value == 0 || !at.has(event.site.index())) return false;
  const auto call = static_cast<events::MpiCall>(event.call);
  const bool exchange =
      call == events::MpiCall::MPI_Sendrecv || call == events::MpiCall::MPI_Sendrecv_replace;
  if (exchange && event.kind != EventKind::kWait) return false;
  return events::is_modelled_call(event.kind);
}

class Insert final : public Transform {
 public:
  Insert(Numbers from, Numbers to, Numbers at, std::int32_t tag, std::int64_t bytes, const Step& step)
      : from_{std::move(from)},
        to_{std::move(to)},
        at_{std::move(at)},
        tag_{tag},
        bytes_{bytes},
        step_{step} {}

  [[nodiscard]] events::EventSink* survey() override { return &survey_; }
  [[nodiscard]] Result<Done> surveyed() override;

 private:
  class Survey final : public events::EventSink {
   public:
    explicit Survey(const Insert& insert) : insert_{insert} {}
    void on_event(const events::TimedEvent& timed) override {
      if (timed.rank.index() >= visits.size()) visits.resize(timed.rank.index() + 1);
      if (is_call_at(insert_.at_, timed.event)) ++visits[timed.rank.index()];
    }
    std::vector<std::uint64_t> visits;  // by rank

   private:
    const Insert& insert_;
  };

  void restart() override {
    made_.assign(survey_.visits.size(), {});
    ids_.clear();
  }
  void change(RankId rank, std::uint64_t ordinal, Call& call) override;
  Call message(EventKind kind, const Event& at, std::int32_t peer, std::uint64_t visit);
  void add_wait(const Event& at, const std::vector<std::uint32_t>& requests);

  struct Rank {
    std::uint64_t visits = 0;
    std::uint32_t requests = kFirstInsertedRequest;
  };
  Numbers from_, to_, at_;
  std::int32_t tag_;
  std::int64_t bytes_;
  Step step_;
  Survey survey_{*this};
  std::vector<std::int32_t> senders_, receivers_;
  std::vector<Rank> made_;
  std::vector<std::uint32_t> ids_;      // of the call's wait
  std::deque<events::Answer> answers_;  // of the call's messages
};

Result<Done> Insert::surveyed() {
  std::uint64_t visits = 0;
  std::int32_t first = -1;
  for (std::size_t r = 0; r < survey_.visits.size(); ++r) {
    const auto rank = static_cast<std::int32_t>(r);
    if (from_.has(r)) senders_.push_back(rank);
    if (to_.has(r)) receivers_.push_back(rank);
    if (!from_.has(r) && !to_.has(r)) continue;
    if (first < 0) visits = survey_.visits[r];
    if (first >= 0 && visits != survey_.visits[r])
      return Error{step_.where + ": rank " + std::to_string(first) + " comes to '" + *step_.find("at") +
                       "' " + std::to_string(visits) + " times, rank " + std::to_string(r) + " " +
                       std::to_string(survey_.visits[r]) + " times",
                   "name a place to which all of these ranks come equally often"};
    if (first < 0) first = rank;
  }
  if (visits == 0 || senders_.empty() || receivers_.empty())
    return Error{
        step_.where + ": '" + step_.text() + "' inserts nothing: no such ranks, or no call at that place",
        ""};
  return Done{};
}

void Insert::change(RankId rank, std::uint64_t /*ordinal*/, Call& call) {
  if (!is_call_at(at_, call.event) || rank.index() >= made_.size()) return;
  Rank& me = made_[rank.index()];
  const std::uint64_t visit = me.visits++;
  answers_.clear();
  ids_.clear();
  if (from_.has(rank.index()))
    for (const std::int32_t peer : receivers_) {
      if (peer == rank.value) continue;
      before().push_back(message(EventKind::kIsend, call.event, peer, visit));
      before().back().event.request = RequestId{me.requests};
      ids_.push_back(me.requests++);
    }
  if (to_.has(rank.index()))
    for (const std::int32_t peer : senders_)
      if (peer != rank.value) before().push_back(message(EventKind::kRecv, call.event, peer, visit));
  if (!ids_.empty()) add_wait(call.event, ids_);
}

Call Insert::message(EventKind kind, const Event& at, std::int32_t peer, std::uint64_t visit) {
  Call call;
  call.event.kind = kind;
  call.event.call = static_cast<std::uint16_t>(kind == EventKind::kRecv ? events::MpiCall::MPI_Recv
                                                                        : events::MpiCall::MPI_Isend);
  call.event.thread = at.thread;
  call.event.site = at.site;
  call.event.peer = peer;
  call.event.tag = tag_;
  call.event.size = bytes_;
  events::Answer& answer = answers_.emplace_back();
  answer.kind = events::AnswerKind::kExit;
  answer.source = kind == EventKind::kRecv ? peer : 0;
  answer.tag = tag_;
  answer.size = bytes_;
  answer.sequence = kFirstSequence + visit;
  call.answer = &answer;
  return call;
}

void Insert::add_wait(const Event& at, const std::vector<std::uint32_t>& requests) {
  Call wait;
  wait.event.kind = EventKind::kWait;
  wait.event.call = static_cast<std::uint16_t>(events::MpiCall::MPI_Waitall);
  wait.event.thread = at.thread;
  wait.event.site = at.site;
  wait.event.aux = requests.size();
  wait.lists.words = requests;
  before().push_back(wait);
}

}  // namespace

Result<std::unique_ptr<Transform>> make_insert(const Step& step, const events::DefinitionsCollector& names) {
  for (const char* key : {"from", "to", "at"})
    if (step.find(key) == nullptr) return bad_setting(step, key, "needed: who sends to whom, and where");
  auto from = parse_numbers(step, "from");
  if (!from) return from.error();
  auto to = parse_numbers(step, "to");
  if (!to) return to.error();
  const auto tag = parse_integer(step, "tag", 0);
  if (!tag) return tag.error();
  const auto bytes = parse_bytes(step, "bytes", {});
  if (!bytes) return bytes.error();
  return std::unique_ptr<Transform>{std::make_unique<Insert>(
      std::move(from).value(), std::move(to).value(), paths_at(*step.find("at"), names),
      static_cast<std::int32_t>(tag.value()), bytes.value(), step)};
}

}  // namespace nplus1::hypothesis::transform
