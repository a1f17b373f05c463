#include "simnode/engine/collectives.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "netmodel/collectives/selection.hpp"
#include "semantics/collective_call.hpp"

namespace nplus1::simnode::engine {
namespace {

using netmodel::Step;

constexpr std::size_t kKeptSteps = 64;  // longer schedules give their memory back

}  // namespace

void Collectives::define(CommId comm, std::vector<RankId> members, std::size_t local_members) {
  Communicator& c = communicators_[comm] = {};
  c.id = comm;
  c.local_members = local_members;
  bool identity = true;
  for (std::size_t i = 0; i < members.size(); ++i) identity = identity && members[i].index() == i;
  if (!identity) {
    for (std::size_t i = 0; i < members.size(); ++i)
      c.order.emplace_back(members[i], static_cast<std::int32_t>(i));
    std::sort(c.order.begin(), c.order.end());
  }
  c.calls.assign(members.size(), 0);
  c.members = std::move(members);
}

void Collectives::forget(CommId comm) {
  const auto known = communicators_.find(comm);
  if (known == communicators_.end()) return;
  known->second.forgotten = true;
  retire(known->second);
}

const Collectives::Communicator& Collectives::communicator(CommId comm) const {
  const auto known = communicators_.find(comm);
  if (known == communicators_.end())
    throw std::invalid_argument("collective call on communicator " + std::to_string(comm.value) +
                                ", which was never defined");
  return known->second;
}

Collectives::Communicator& Collectives::communicator(CommId comm) {
  return const_cast<Communicator&>(std::as_const(*this).communicator(comm));
}

std::int32_t Collectives::index_of(const Communicator& c, RankId rank) {
  if (c.order.empty() && rank.index() < c.members.size()) return rank.value;
  const auto it = std::lower_bound(c.order.begin(), c.order.end(), std::pair{rank, std::int32_t{0}});
  if (it == c.order.end() || it->first != rank)
    throw std::invalid_argument("collective call by rank " + std::to_string(rank.value) +
                                ", which is not a member of the communicator");
  return it->second;
}

Collectives::Call& Collectives::next_call(Communicator& c, std::int32_t me) {
  const std::uint64_t offset = c.calls[static_cast<std::size_t>(me)]++ - c.first_call;
  while (offset >= c.in_progress.size()) {
    if (idle_.empty()) idle_.push_back(std::make_unique<Call>());
    std::unique_ptr<Call> call = std::move(idle_.back());
    idle_.pop_back();
    call->members.resize(c.members.size());
    for (Member& m : call->members) {
      m.steps.clear();
      m.entered = m.sent = m.done = false;
    }
    call->comm = c.id;
    call->number = c.first_call + c.in_progress.size();
    call->transfers.clear(c.members.size());
    if (contention_ != nullptr) {
      call->receives.clear(c.members.size());
      call->arrivals.clear(c.members.size());
      call->signals.clear(c.members.size());
      call->listening.clear(c.members.size());
      call->copies.clear();
    }
    call->finished = 0;
    c.in_progress.push_back(std::move(call));
  }
  return *c.in_progress[offset];
}

Duration Collectives::schedule(const Communicator& c, std::int32_t me, const events::Event& event,
                               const events::Extension& extension, std::vector<Step>& steps) const {
  std::vector<std::int64_t> edge_sizes;
  const semantics::Membership who{static_cast<std::int32_t>(c.members.size()), me,
                                  static_cast<std::int32_t>(c.local_members)};
  const netmodel::CollectiveCall call = semantics::collective_call(event, extension, who, edge_sizes);
  if (selection_ == nullptr) {
    netmodel::append_steps(call, steps);
    return {};
  }
  netmodel::append_steps(call, *selection_, steps);
  return selection_->copying(call);
}

void Collectives::enter(RankId rank, const events::Event& event, const events::Extension& extension,
                        Time entry, std::uint64_t token, std::vector<Done>& done) {
  Communicator& c = communicator(event.comm);
  const std::int32_t me = index_of(c, rank);
  Call& call = next_call(c, me);
  Member& member = call.members[static_cast<std::size_t>(me)];
  const Duration copying = schedule(c, me, event, extension, member.steps);
  member.enter(entry + copying);
  member.token = token;
  if (contention_ != nullptr) {
    member.end = member.clock;
    member.pending = 0;
    member.held_up = member.latest_held_up = {};
    member.site = event.site.value;
    member.crossed.reset();
    runnable_.push_back(me);
    run_all(c, call, done);
    return retire(c);
  }
  runnable_.push_back(me);
  while (!runnable_.empty()) {
    const std::int32_t next = runnable_.back();
    runnable_.pop_back();
    advance(c, call, next, done);
  }
  retire(c);
}

/// Runs a member until it waits for a transfer that was not yet sent.
void Collectives::advance(Communicator& c, Call& call, std::int32_t me, std::vector<Done>& done) {
  semantics::ScheduleLanes<Member> lanes{network_,     selection_,     c.members,
                                         call.members, call.transfers, runnable_};
  if (lanes.advance(me)) finish(c, call, me, done);
}

void Collectives::finish(const Communicator& c, Call& call, std::int32_t me, std::vector<Done>& done) {
  Member& member = call.members[static_cast<std::size_t>(me)];
  if (member.done) return;
  member.done = true;
  ++call.finished;
  if (member.steps.capacity() > kKeptSteps) member.steps = {};
  done.push_back({c.members[static_cast<std::size_t>(me)], member.token, member.clock, member.held_up});
}

/// `c` may be gone afterwards.
void Collectives::retire(Communicator& c) {
  while (!c.in_progress.empty() && c.in_progress.front()->finished == c.members.size()) {
    idle_.push_back(std::move(c.in_progress.front()));
    c.in_progress.pop_front();
    ++c.first_call;
  }
  if (!c.forgotten || !c.in_progress.empty()) return;
  const CommId gone = c.id;  // not a reference into what goes
  communicators_.erase(gone);
}

std::vector<RankId> Collectives::awaited(CommId comm, RankId rank, std::uint64_t token) const {
  const Communicator& c = communicator(comm);
  const auto me = static_cast<std::size_t>(index_of(c, rank));
  for (const std::unique_ptr<Call>& call : c.in_progress) {
    const Member& member = call->members[me];
    if (!member.entered || member.done || member.token != token) continue;
    std::vector<RankId> missing;
    for (std::size_t m = 0; m < c.members.size(); ++m)
      if (!call->members[m].entered) missing.push_back(c.members[m]);
    if (missing.empty() && member.position < member.steps.size())
      missing.push_back(c.members[static_cast<std::size_t>(member.steps[member.position].receive_from)]);
    return missing;
  }
  return {};
}

}  // namespace nplus1::simnode::engine
