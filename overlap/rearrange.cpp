#include "overlap/rearrange.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "events/mpi_call.hpp"

namespace nplus1::overlap {
namespace {

using events::Event;
using events::EventKind;
using events::MpiCall;
using hypothesis::transform::Call;
using hypothesis::transform::Transform;

/// Requests of converted calls have numbers from here on.
constexpr std::uint32_t kFirstDeferredRequest = 0xE0000000U;

/// What is put in at one place: one wait, and posts before and behind it. What is waited for may be what frees the
/// memory of what is posted, so posts are behind it unless a move says otherwise.
enum class Inserted : std::uint8_t { kPostBefore, kWaited, kPostBehind };

struct Insertion {
  Position place;
  Inserted what{};
  std::uint32_t move = 0;  // place in the rank's moves
  friend auto operator<=>(const Insertion&, const Insertion&) = default;
};

class Rearrange final : public Transform {
 public:
  Rearrange(std::shared_ptr<const Survey> survey, std::shared_ptr<const Plan> plan)
      : kept_survey_{std::move(survey)},
        kept_plan_{std::move(plan)},
        survey_{*kept_survey_},
        plan_{*kept_plan_} {}

  void on_event(const events::TimedEvent& timed) override;

 private:
  struct Rank {
    std::vector<Insertion> inserted;  // in the order of their places
    std::size_t next = 0;             // in `inserted`: what is still to come
    std::uint32_t move = 0;           // in the rank's moves, which are in the order of their calls: the same
    std::unordered_set<std::uint32_t> moved;  // requests whose waits are elsewhere
    std::vector<Duration> later;              // by thread
    std::uint64_t more = 0;                   // calls so far
  };

  void restart() override {
    ranks_.assign(plan_.size(), {});
    for (std::size_t r = 0; r < plan_.size(); ++r) prepare(r);
  }
  void change(RankId, std::uint64_t, Call&) override {}

  void prepare(std::size_t r);
  [[nodiscard]] const MessageEnd& end_of(std::size_t r, std::uint32_t move) const {
    return survey_.ranks()[r].ends[plan_[r][move].end];
  }
  [[nodiscard]] std::uint32_t request_of(std::size_t r, std::uint32_t move) const {
    const MessageEnd& end = end_of(r, move);
    return end.event.request == kNoRequest || end.event.kind == EventKind::kRecv
               ? kFirstDeferredRequest + move
               : end.event.request.value;
  }
  [[nodiscard]] Event posted(std::size_t r, std::uint32_t move) const;
  void post(std::size_t r, std::uint32_t move, std::int64_t compute, Time& now, std::uint64_t& ordinal);
  void wait(std::size_t r, std::uint32_t last, std::int64_t compute, Time& now, std::uint64_t& ordinal);
  void match(std::size_t r, std::uint32_t move, Time at);
  void without_moved(const Rank& rank, Call& call);
  std::optional<std::uint32_t> move_of(std::size_t r, std::uint64_t ordinal);

  std::shared_ptr<const Survey> kept_survey_;
  std::shared_ptr<const Plan> kept_plan_;
  const Survey& survey_;
  const Plan& plan_;
  std::vector<Rank> ranks_;
  std::vector<std::uint32_t> words_;
  std::vector<std::uint32_t> requests_;  // that are waited for at one place
  events::Detail detail_{};              // so that sinks of a replay see the calls that are put in
};

void Rearrange::prepare(std::size_t r) {
  Rank& rank = ranks_[r];
  const SurveyedRank& surveyed = survey_.ranks()[r];
  for (std::uint32_t i = 0; i < plan_[r].size(); ++i) {
    const Move& move = plan_[r][i];
    const MessageEnd& end = surveyed.ends[move.end];
    if (move.post != place_of(*surveyed.moment(end.ordinal)))
      rank.inserted.push_back(
          {move.post, move.before_waits ? Inserted::kPostBefore : Inserted::kPostBehind, i});
    rank.inserted.push_back({move.wait, Inserted::kWaited, i});
    if (end.completed != end.ordinal) rank.moved.insert(request_of(r, i));
  }
  std::sort(rank.inserted.begin(), rank.inserted.end());
}

/// The message's call as MPI_Isend or MPI_Irecv, without its computing.
Event Rearrange::posted(std::size_t r, std::uint32_t move) const {
  const MessageEnd& end = end_of(r, move);
  Event e = end.event;
  e.compute_ps = 0;
  if (e.kind == EventKind::kSend || e.kind == EventKind::kRecv) {
    e.flags = static_cast<std::uint8_t>(e.flags & ~events::kNeedsAnswer);
    e.kind = end.receives() ? EventKind::kIrecv : EventKind::kIsend;
    e.request = RequestId{request_of(r, move)};
  }
  if (end.blocks())
    e.call = static_cast<std::uint16_t>(end.receives() ? MpiCall::MPI_Irecv : MpiCall::MPI_Isend);
  return e;
}

/// A receive that had its message in the call itself is told of it as MPI_Irecv is.
void Rearrange::match(std::size_t r, std::uint32_t move, Time at) {
  const MessageEnd& end = end_of(r, move);
  if (end.event.kind != EventKind::kRecv) return;
  events::Answer answer = end.answer;
  answer.kind = events::AnswerKind::kMatch;
  answer.request = RequestId{request_of(r, move)};
  answer.thread = end.event.thread;
  answer.exit_ps = at.time_since_epoch().count();
  next().on_match(RankId{static_cast<std::int32_t>(r)}, answer);
}

void Rearrange::post(std::size_t r, std::uint32_t move, std::int64_t compute, Time& now,
                     std::uint64_t& ordinal) {
  Event e = posted(r, move);
  e.compute_ps = compute;
  now += e.compute();
  e.entry_ps = now.time_since_epoch().count();
  next().on_event(
      {RankId{static_cast<std::int32_t>(r)}, e, {}, now, events::kNoAnswer, {}, &detail_, ordinal++});
  match(r, move, now);
}

/// For `requests_`, the last of them that of the move `last`.
void Rearrange::wait(std::size_t r, std::uint32_t last, std::int64_t compute, Time& now,
                     std::uint64_t& ordinal) {
  const Event& latest = end_of(r, last).event;
  Event e;
  e.kind = EventKind::kWait;
  e.call = static_cast<std::uint16_t>(requests_.size() == 1 ? MpiCall::MPI_Wait : MpiCall::MPI_Waitall);
  e.thread = latest.thread;
  e.site = latest.site;
  e.aux = requests_.size();
  e.compute_ps = compute;
  now += e.compute();
  e.entry_ps = now.time_since_epoch().count();
  next().on_event({RankId{static_cast<std::int32_t>(r)},
                   e,
                   {requests_, {}},
                   now,
                   events::kNoAnswer,
                   {},
                   &detail_,
                   ordinal++});
}

/// A wait of what is waited for elsewhere. Of one that has nothing else to wait for only the computing is left.
void Rearrange::without_moved(const Rank& rank, Call& call) {
  if (call.event.kind != EventKind::kWait || call.unfinished || rank.moved.empty()) return;
  const auto moved = [&rank](std::uint32_t id) { return rank.moved.contains(id); };
  if (std::none_of(call.lists.words.begin(), call.lists.words.end(), moved)) return;
  words_.assign(call.lists.words.begin(), call.lists.words.end());
  std::erase_if(words_, moved);
  const bool nothing = std::all_of(words_.begin(), words_.end(), [](std::uint32_t id) { return id == 0; });
  if (nothing) return call.remove();
  call.event.aux = words_.size();
  call.lists.words = words_;
}

/// The move of that call; nothing: it stays. Calls come in their order but for a few stragglers.
std::optional<std::uint32_t> Rearrange::move_of(std::size_t r, std::uint64_t ordinal) {
  const auto& moves = plan_[r];
  const auto& ends = survey_.ranks()[r].ends;
  std::uint32_t& at = ranks_[r].move;
  if (at > 0 && ends[moves[at - 1].end].ordinal >= ordinal)
    at = static_cast<std::uint32_t>(
        std::lower_bound(moves.begin(), moves.end(), ordinal,
                         [&ends](const Move& m, std::uint64_t o) { return ends[m.end].ordinal < o; }) -
        moves.begin());
  while (at < moves.size() && ends[moves[at].end].ordinal < ordinal) ++at;
  if (at == moves.size() || ends[moves[at].end].ordinal != ordinal) return std::nullopt;
  return at++;
}

void Rearrange::on_event(const events::TimedEvent& timed) {
  const std::size_t r = timed.rank.index();
  Rank& rank = ranks_.at(r);
  Call call{timed.event,   timed.extension, {},          timed.exit == events::kUnfinished,
            &timed.answer, timed.completed, timed.detail};
  if (!call.unfinished) call.took = timed.exit - timed.event.entry();
  const std::size_t thread = timed.event.thread.index();
  if (thread >= rank.later.size()) rank.later.resize(thread + 1);
  Time now = timed.event.entry() - timed.event.compute() + rank.later[thread];
  std::uint64_t ordinal = timed.ordinal + rank.more;
  const std::uint64_t first = ordinal;

  const std::int64_t charge = call_interval().count();
  const std::int64_t own = std::min(call.event.compute_ps, charge);
  const std::int64_t room = call.event.compute_ps - own;  // of computing that is nobody's charge
  std::int64_t spent = 0;
  const auto until = [&](std::int64_t offset) {
    const std::int64_t more = std::clamp<std::int64_t>(offset, spent, room) - spent;
    spent += more;
    return more + charge;
  };
  for (; rank.next < rank.inserted.size(); ++rank.next) {
    const Insertion& in = rank.inserted[rank.next];
    if (in.place.ordinal > timed.ordinal) break;
    if (in.what != Inserted::kWaited) {
      post(r, in.move, until(in.place.offset_ps), now, ordinal);
      continue;
    }
    requests_.push_back(request_of(r, in.move));
    const std::size_t behind = rank.next + 1;
    if (behind < rank.inserted.size() && rank.inserted[behind].what == Inserted::kWaited &&
        rank.inserted[behind].place == in.place)
      continue;
    wait(r, in.move, until(in.place.offset_ps), now, ordinal);
    requests_.clear();
  }
  call.event.compute_ps -= spent;

  bool here = false;
  std::uint32_t move = 0;
  if (const std::optional<std::uint32_t> known = move_of(r, timed.ordinal)) {
    const Moment* own_place = survey_.ranks()[r].moment(timed.ordinal);
    move = *known;
    here = plan_[r][move].post == place_of(*own_place);
    const std::int64_t compute = call.event.compute_ps;
    if (here) {
      const bool second_half = compute < charge;  // of MPI_Sendrecv; a call of its own now
      call.event = posted(r, move);
      call.event.compute_ps = second_half ? charge : compute;
      call.took = end_of(r, move).blocks() ? Duration::zero() : call.took;
      call.answer = &events::kNoAnswer;
    } else {
      call.remove();
      call.event.compute_ps = compute - std::min(compute, own);
    }
  } else {
    without_moved(rank, call);
    if (call.removed) call.event.compute_ps -= std::min(call.event.compute_ps, own);
  }
  rank.more += ordinal - first;
  const Time entry = now + call.event.compute();
  call.event.entry_ps = entry.time_since_epoch().count();
  const Time exit = call.unfinished ? events::kUnfinished : entry + call.took;
  const events::Detail* detail = call.detail;
  next().on_event({timed.rank, call.event, call.lists, exit, *call.answer, call.completed, detail, ordinal});
  if (here) match(r, move, entry);
  if (!call.unfinished) rank.later[thread] = exit - timed.exit;
}

}  // namespace

std::unique_ptr<Transform> rearranged(std::shared_ptr<const Survey> survey,
                                      std::shared_ptr<const Plan> plan) {
  return std::make_unique<Rearrange>(std::move(survey), std::move(plan));
}

}  // namespace nplus1::overlap
