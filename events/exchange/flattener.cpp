#include "events/exchange/flattener.hpp"

#include <algorithm>

namespace nplus1::events::exchange {
namespace {

constexpr std::int64_t kCollectiveTag = -2;  // no tag of MPI's

bool posts(const Event& event) {
  return event.kind == EventKind::kIrecv && event.peer != kProcNull.value && !event.has(kMatched);
}

}  // namespace

Flattener::Flattener(std::int32_t ranks, Programs& programs, Expand expand)
    : programs_{programs}, expand_{std::move(expand)}, ranks_(static_cast<std::size_t>(ranks)) {
  Communicator world{CommId{0}, {}, 0};
  for (std::int32_t rank = 0; rank < ranks; ++rank) world.members.emplace_back(rank);
  on_communicator(world);
}

void Flattener::on_event(const TimedEvent& event) {
  Rank& rank = ranks_.at(event.rank.index());
  const Event& e = event.event;
  if (e.kind == EventKind::kCancelled) {
    if (const auto found = rank.open.find(e.request.value); found != rank.open.end()) {
      Held& receive = rank.queue[found->second - rank.popped];
      receive.open = false;
      receive.event.event.peer = kProcNull.value;
      rank.open.erase(found);
    }
  }
  if (posts(e)) rank.open[e.request.value] = rank.popped + rank.queue.size();
  rank.queue.push_back({StoredEvent{event}, posts(e)});
  drain(event.rank);
}

void Flattener::on_match(RankId receiver, const Answer& match) {
  Rank& rank = ranks_.at(receiver.index());
  const auto found = rank.open.find(match.request.value);
  if (found == rank.open.end()) return;
  Held& receive = rank.queue[found->second - rank.popped];
  receive.open = false;
  receive.event.answer.source = match.source;
  receive.event.answer.tag = match.tag;
  receive.event.answer.size = match.size;
  rank.open.erase(found);
  drain(receiver);
}

void Flattener::drain(RankId id) {
  Rank& rank = ranks_[id.index()];
  while (!rank.queue.empty() && !rank.queue.front().open) {
    const StoredEvent event = std::move(rank.queue.front().event);
    rank.queue.pop_front();
    ++rank.popped;
    flatten(event);
  }
}

std::vector<std::string> Flattener::finish() {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    for (Held& held : ranks_[i].queue) {
      if (!held.open) continue;
      held.open = false;
      held.event.event.peer = kProcNull.value;
      lost_.insert("receives that never met their message");
    }
    drain(RankId{static_cast<std::int32_t>(i)});
  }
  return {lost_.begin(), lost_.end()};
}

std::uint32_t Flattener::tag_of(CommId comm, std::int64_t tag) {
  if (comm.value == 0 && tag >= 0 && tag < kFirstOwnTag) return static_cast<std::uint32_t>(tag);
  const auto next = kFirstOwnTag + static_cast<std::uint32_t>(tags_.size());
  return tags_.try_emplace({comm.value, tag}, next).first->second;
}

void Flattener::flatten(const StoredEvent& stored) {
  const Event& e = stored.event;
  if (e.compute_ps > 0) programs_.compute(stored.rank, e.compute());
  if (e.thread.value != 0) lost_.insert("which thread made a call: a rank's calls stand one after another");
  if (stored.exit == kUnfinished) return;
  switch (e.kind) {
    case EventKind::kSend:
    case EventKind::kIsend:
    case EventKind::kRecv:
    case EventKind::kIrecv:
      return transfer(stored);
    case EventKind::kWait:
    case EventKind::kTest:
      return complete(stored);
    case EventKind::kCollective:
    case EventKind::kIcollective:
      return collective(stored);
    case EventKind::kProbe:
    case EventKind::kIprobe:
      lost_.insert("probes");
      break;
    case EventKind::kOneSided:
    case EventKind::kWindowSync:
      lost_.insert("one-sided communication");
      break;
    case EventKind::kFileAccess:
      lost_.insert("accesses to files");
      break;
    case EventKind::kUnmodelledEnter:
      lost_.insert("calls that nplus1 does not model");
      break;
    default:
      break;
  }
}

void Flattener::transfer(const StoredEvent& stored) {
  const Event& e = stored.event;
  const bool sends = e.kind == EventKind::kSend || e.kind == EventKind::kIsend;
  if (e.peer == kProcNull.value || (!sends && stored.answer.source < 0 && !e.has(kMatched))) return;
  Rank& rank = ranks_[stored.rank.index()];
  const bool blocking = e.request == kNoRequest || e.kind == EventKind::kSend || e.kind == EventKind::kRecv;
  const std::uint64_t handle = blocking ? rank.handles++ : e.request.value;
  // A message that a matching probe took: the event names it, and no match follows.
  const bool named = sends || (e.kind == EventKind::kIrecv && e.has(kMatched));
  const Answer& got = stored.answer;
  if (named) {
    const Message message{e.peer, tag_of(e.comm, e.tag), e.size};
    sends ? programs_.send(stored.rank, message, handle) : programs_.receive(stored.rank, message, handle);
  } else {
    programs_.receive(stored.rank, {got.source, tag_of(e.comm, got.tag), got.size}, handle);
  }
  if (blocking)
    programs_.wait(stored.rank, handle);
  else
    rank.active.insert(e.request.value);
}

void Flattener::complete(const StoredEvent& stored) {
  const Event& e = stored.event;
  if (e.has(kKeepsRequests) || (e.kind == EventKind::kTest && stored.answer.flag == 0)) return;
  Rank& rank = ranks_[stored.rank.index()];
  const auto wait = [&](std::uint32_t request) {
    if (rank.active.erase(request) != 0) programs_.wait(stored.rank, request);
  };
  if (e.completion_mode() == CompletionMode::kAll) {
    for (const std::uint32_t request : stored.words) wait(request);
  } else {
    for (const std::uint32_t position : stored.completed) {
      if (position < stored.words.size()) wait(stored.words[position]);
    }
  }
}

void Flattener::collective(const StoredEvent& stored) {
  const Event& e = stored.event;
  const auto found = communicators_.find(e.comm);
  if (found == communicators_.end() || found->second.first_group != 0) {
    lost_.insert("collectives on intercommunicators");
    return;
  }
  if (e.kind == EventKind::kIcollective)
    lost_.insert("that some collectives did not block: they do, where they start");
  const auto& members = found->second.members;
  const bool all = members.size() == ranks_.size();
  const bool in_order = std::is_sorted(members.begin(), members.end());
  if (all && in_order && programs_.collective(stored.view())) return;
  const auto me = std::find(members.begin(), members.end(), stored.rank) - members.begin();
  const auto count = static_cast<std::int32_t>(members.size());
  Rank& rank = ranks_[stored.rank.index()];
  const std::uint32_t tag = tag_of(e.comm, kCollectiveTag);
  std::vector<std::uint64_t> sends;
  for (const Round& round : expand_(stored.view(), static_cast<std::int32_t>(me), count)) {
    if (round.send_to >= 0) {
      sends.push_back(rank.handles++);
      programs_.send(stored.rank, {members[static_cast<std::size_t>(round.send_to)].value, tag, round.size},
                     sends.back());
    }
    if (round.receive_from >= 0) {
      const std::uint64_t handle = rank.handles++;
      programs_.receive(stored.rank, {members[static_cast<std::size_t>(round.receive_from)].value, tag, -1},
                        handle);
      programs_.wait(stored.rank, handle);
    }
  }
  for (const std::uint64_t send : sends) programs_.wait(stored.rank, send);
}

}  // namespace nplus1::events::exchange
