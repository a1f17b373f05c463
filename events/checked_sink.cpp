#include "events/checked_sink.hpp"

#include <algorithm>

#include "events/neighbours.hpp"
#include "events/thread_change.hpp"
#include "support/collective_forms.hpp"

namespace nplus1::events {
namespace {

constexpr auto kLastCollective = static_cast<std::uint8_t>(CollectiveKind::kSynchronize);

/// What an id counts in the budget: whoever makes arrays of them keeps so much for each, in units of a member's place.
constexpr std::uint64_t kCostOfId = 16;
constexpr std::uint64_t kMostIds = std::uint64_t{1} << 32U;

bool is_collective(EventKind kind) {
  return kind == EventKind::kCollective || kind == EventKind::kIcollective;
}

bool names_region(const Event& e) {
  return e.kind == EventKind::kRegionBegin || e.kind == EventKind::kRegionEnd || names_file(e);
}

/// Definitions travel as such, and stay between rank and simulator, as outcomes do.
bool belongs_in_a_file(EventKind kind) {
  switch (kind) {
    case EventKind::kNone:
    case EventKind::kCommDefine:
    case EventKind::kSiteDefine:
    case EventKind::kRegionDefine:
    case EventKind::kDatatypeDefine:
    case EventKind::kOutcome:
    case EventKind::kWarmTime:
      return false;
    default:
      return true;
  }
}

/// Whether the event's size is one member's block, of which there is one for each.
bool is_of_blocks(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
    case CollectiveKind::kAllgather:
    case CollectiveKind::kAllgatherv:
    case CollectiveKind::kAlltoall:
    case CollectiveKind::kAlltoallv:
    case CollectiveKind::kReduceScatterBlock:
      return true;
    default:
      return false;
  }
}

bool is_size(std::int64_t size) {
  return size >= 0 && size <= kMostBytes;
}

bool is_time(std::int64_t ps) {
  return ps >= -kLatest && ps <= kLatest;
}

std::int64_t as_signed(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

}  // namespace

CheckedSink::CheckedSink(std::int32_t ranks, std::uint64_t file_bytes, EventSink& sink, bool everybody)
    : ranks_{ranks},
      sink_{sink},
      everybody_{everybody},
      budget_{file_bytes},
      most_not_joined_{ClaimBudget::kFree + 8 * file_bytes} {
  communicators_[0].everybody = true;
  communicators_[0].size = static_cast<std::uint32_t>(ranks);
}

bool CheckedSink::fail(bool holds, const char* what, std::int64_t value) {
  if (!holds && !trouble_) trouble_ = std::string{what} + " " + std::to_string(value);
  return false;
}

bool CheckedSink::claim(std::uint64_t& highest, std::uint64_t id, const char* what) {
  if (id <= highest) return true;
  if (!demand(id < kMostIds && budget_.take(kCostOfId * (id - highest)), what, as_signed(id))) return false;
  highest = id;
  return true;
}

bool CheckedSink::claim_thread(RankId rank, ThreadId thread) {
  if (thread.value == 0) return true;
  if (rank.index() >= threads_.size()) threads_.resize(rank.index() + 1);
  std::uint16_t& highest = threads_[rank.index()];
  if (thread.value <= highest) return true;
  const auto more = static_cast<std::uint64_t>(thread.value - highest);
  highest = thread.value;
  return demand(budget_.take(8 * more), "more threads than the file has room for, up to thread",
                thread.value);
}

bool CheckedSink::add_bytes(std::int64_t size, std::uint64_t times) {
  if (size == 0 || times == 0) return true;
  const auto each = static_cast<std::uint64_t>(size);
  const std::uint64_t room = kMostBytesInAll - bytes_;
  const bool fits =
      each <= room && (times == 1 || times <= room / each);  // a division for each message would tell
  if (!demand(fits, "more bytes in all than can be counted, with a message of", size)) return false;
  bytes_ += each * times;
  return true;
}

bool CheckedSink::is_peer(const Event& e) const {
  if (is_rank(e.peer) || e.peer == kProcNull.value) return true;
  return !is_one_of(kSends, e.kind) && e.peer == kAnySource.value;
}

bool CheckedSink::check_ids(const TimedEvent& event) {
  const Event& e = event.event;
  return claim(highest_.comm, e.comm.value, "there is no communicator") &&
         claim(highest_.site, e.site.value, "there is no call path") &&
         (!names_region(e) || claim(highest_.region, e.aux, "there is no region")) &&
         claim_thread(event.rank, e.thread) &&
         demand(event.ordinal <= kMostInOrder, "there is no call number", as_signed(event.ordinal));
}

bool CheckedSink::check_times(const TimedEvent& event) {
  const Event& e = event.event;
  return demand(is_time(e.entry_ps), "a call cannot begin at", e.entry_ps) &&
         demand(is_time(e.compute_ps), "a computing time of", e.compute_ps) &&
         (!is_thread_change(e, ThreadChange::kStart) ||
          demand(is_time(as_signed(e.aux)), "a computing time of", as_signed(e.aux))) &&
         demand(event.exit >= e.entry() &&
                    (event.exit == kUnfinished || is_time(event.exit.time_since_epoch().count())),
                "a call that ends before it begins, at", e.entry_ps);
}

bool CheckedSink::check_answer(const Answer& answer) {
  return demand(
             is_rank(answer.source) || answer.source == kProcNull.value || answer.source == kAnySource.value,
             "there is no source", answer.source) &&
         demand(is_size(answer.size), "a message of", answer.size) &&
         demand(answer.sequence <= kMostInOrder, "there is no message number", as_signed(answer.sequence)) &&
         demand(is_time(answer.exit_ps) || answer.exit_ps == kUnfinished.time_since_epoch().count(),
                "a message cannot arrive at", answer.exit_ps);
}

bool CheckedSink::check_requests(const TimedEvent& event) {
  const auto wanted = event.event.aux;
  const std::size_t words = event.extension.words.size();
  if (!demand(wanted == words, "a list of requests whose length is not", as_signed(wanted))) return false;
  if (!demand(event.event.operation <= static_cast<std::uint8_t>(CompletionMode::kSome),
              "there is no way to complete requests", event.event.operation) ||
      !demand(event.completed.size() <= words,
              "more requests completed than there are:", as_signed(event.completed.size())) ||
      !demand(event.answer.index >= -1 && event.answer.index <= as_signed(words),
              "there is no request at position", event.answer.index))
    return false;
  return std::all_of(event.completed.begin(), event.completed.end(), [&](std::uint32_t position) {
    return demand(position < words, "there is no request at position", position);
  });
}

bool CheckedSink::check_lists(const TimedEvent& event) {
  if (is_one_of(kCompletes, event.event.kind)) return check_requests(event);
  if (!demand(event.completed.empty(),
              "requests completed by a call that completes none:", as_signed(event.completed.size())))
    return false;
  if (is_collective(event.event.kind)) return check_collective(event);
  if (is_access(event.event)) return check_access(event);
  if (event.event.kind == EventKind::kOneSided || event.event.kind == EventKind::kWindowSync)
    return check_one_sided(event);
  return event.event.kind != EventKind::kFileAccess || check_file(event);
}

/// A file is a communicator.
bool CheckedSink::check_file(const TimedEvent& event) {
  const Event& e = event.event;
  constexpr std::int32_t kManners = kCollectiveAccess | kMeetFirst | kScatteredAccess | kInTurn;
  Members* const known = members_of(e.comm);
  const std::int32_t me = known == nullptr ? -1 : index_of(*known, event.rank);
  return demand(e.operation <= static_cast<std::uint8_t>(FileOperation::kTurn), "there is no file operation",
                e.operation) &&
         demand((e.tag & ~kManners) == 0, "there is no file access with the bits", e.tag) &&
         demand(me >= 0, "there is no file", e.comm.value) && add_bytes(e.size, 1) &&
         ((e.tag & kMeetFirst) == 0 || join(*known, static_cast<std::size_t>(me)));
}

/// A window is a communicator; a group's members are ranks.
bool CheckedSink::check_one_sided(const TimedEvent& event) {
  const Event& e = event.event;
  const Members* const known = members_of(e.comm);
  const bool moves = e.kind == EventKind::kOneSided;
  const auto last = moves ? static_cast<std::uint8_t>(OneSidedOperation::kCompareAndSwap)
                          : static_cast<std::uint8_t>(WindowSync::kFlushLocalAll);
  if (!demand(e.operation <= last, "there is no one-sided operation", e.operation) ||
      !demand(is_rank(e.peer) || e.peer == kProcNull.value, "there is no target", e.peer) ||
      !demand(known != nullptr && index_of(*known, event.rank) >= 0, "there is no window", e.comm.value))
    return false;
  if (moves)
    return demand(is_size(as_signed(e.aux)), "a transfer of", as_signed(e.aux)) && add_bytes(e.size, 1) &&
           add_bytes(as_signed(e.aux), 1);
  const bool asks_all = e.window_sync() == WindowSync::kLockAll || e.window_sync() == WindowSync::kUnlockAll;
  const std::size_t words = event.extension.words.size();
  if (!demand(e.aux == words, "a group whose members are not", as_signed(e.aux)) ||
      !demand(!asks_all || budget_.take(known->size), "more locks than the file has room for, of window",
              e.comm.value))
    return false;
  return std::all_of(event.extension.words.begin(), event.extension.words.end(), [&](std::uint32_t member) {
    return demand(is_rank(member), "there is no rank", member);
  });
}

bool CheckedSink::check_access(const TimedEvent& event) {
  const Event& e = event.event;
  const std::span<const std::int64_t> distance = event.extension.sizes;
  const bool is_last = e.operation == static_cast<std::uint8_t>(Access::kLastTouch);
  return demand(e.peer >= 0 && e.peer <= static_cast<std::int32_t>(Toucher::kEnd), "there is no toucher",
                e.peer) &&
         demand((e.tag & ~(kInexactAccess | kWriteAccess)) == 0, "there is no access with the bits", e.tag) &&
         demand(e.aux <= kMostInOrder, "an access to the buffer of call number", as_signed(e.aux)) &&
         demand(distance.size() == (is_last ? 1U : 0U), "an access whose distances number",
                as_signed(distance.size())) &&
         demand(!is_last || (distance[0] >= 0 && is_time(distance[0])), "an access at the distance",
                is_last ? distance[0] : 0);
}

/// Null if there is none. Most collectives are of the same communicator as the one before.
CheckedSink::Members* CheckedSink::members_of(CommId comm) {
  if (last_members_ != nullptr && last_comm_ == comm) return last_members_;
  const auto found = communicators_.find(comm.value);
  if (found == communicators_.end()) return nullptr;
  last_comm_ = comm;
  return last_members_ = &found->second;
}

std::int32_t CheckedSink::index_of(const Members& members, RankId rank) const {
  if (members.everybody) return rank.index() < members.size ? rank.value : std::int32_t{-1};
  const auto found =
      std::lower_bound(members.sorted.begin(), members.sorted.end(), rank.value,
                       [](const auto& entry, std::int32_t wanted) { return entry.first < wanted; });
  const bool there = found != members.sorted.end() && found->first == rank.value;
  return there ? static_cast<std::int32_t>(found->second) : std::int32_t{-1};
}

/// The k-th call of a member belongs to the k-th of the others: who runs ahead of them makes everybody keep what they
/// have not reached, once for each.
bool CheckedSink::join(Members& members, std::size_t me) {
  if (!everybody_) return true;
  if (members.calls.empty()) members.calls.resize(members.size);
  const std::uint64_t call = ++members.calls[me];
  if (call <= members.most_calls) {
    --not_joined_;
    return true;
  }
  members.most_calls = call;
  not_joined_ += members.size - 1;
  return demand(not_joined_ <= most_not_joined_,
                "more calls of collectives without their other members than the file "
                "has room for:",
                as_signed(not_joined_));
}

/// What schedules and statistics rely on: a member's view that fits the communicator.
bool CheckedSink::check_collective(const TimedEvent& event) {
  const Event& e = event.event;
  Members* const known = members_of(e.comm);
  if (!demand(e.operation <= kLastCollective, "there is no collective", e.operation) ||
      !demand(known != nullptr, "there is no communicator", e.comm.value))
    return false;
  Members& members = *known;
  const std::int32_t me = index_of(members, event.rank);
  if (!demand(me >= 0, "a collective on a communicator without rank", event.rank.value) ||
      !join(members, static_cast<std::size_t>(me)))
    return false;
  if (is_neighborhood(e.collective()))
    return check_neighbours(event.extension.words, members.size) &&
           add_bytes(e.size, event.extension.words[1]);
  return check_root(e, members, me) && check_sizes(event, members, me);
}

bool CheckedSink::check_root(const Event& e, const Members& members, std::int32_t me) {
  if (!is_rooted(e.collective())) return true;
  std::uint32_t last = members.size;
  if (members.first_group != 0) {
    if (e.peer == kIntercommRoot || e.peer == kProcNull.value) return true;
    const bool first = static_cast<std::uint32_t>(me) < members.first_group;
    last = first ? members.size - members.first_group : members.first_group;
  }
  return demand(e.peer >= 0 && static_cast<std::uint32_t>(e.peer) < last, "there is no root", e.peer);
}

/// Lists of bytes have an entry for each member that they are about, or are not there.
bool CheckedSink::check_sizes(const TimedEvent& event, const Members& members, std::int32_t me) {
  const CollectiveKind kind = event.event.collective();
  const std::span<const std::int64_t> sizes = event.extension.sizes;
  std::size_t about = members.size;
  bool fits = sizes.empty();
  if (members.first_group != 0) {
    const bool first = static_cast<std::uint32_t>(me) < members.first_group;
    const bool own = kind == CollectiveKind::kReduceScatter;
    about = first == own ? members.first_group : members.size - members.first_group;
    const bool one = kind == CollectiveKind::kAllgather || kind == CollectiveKind::kAlltoall;
    fits = fits || (one && sizes.size() == 1);
  }
  fits = fits || sizes.size() == about || (kind == CollectiveKind::kAlltoallv && sizes.size() == 2 * about);
  if (!demand(fits, "a list of sizes that does not fit the communicator, of length", as_signed(sizes.size())))
    return false;
  for (const std::int64_t size : sizes)
    if (!demand(is_size(size), "a size of", size) || !add_bytes(size, 1)) return false;
  return add_bytes(event.event.size, is_of_blocks(kind) ? members.size : 1);
}

bool CheckedSink::check_neighbours(std::span<const std::uint32_t> words, std::uint32_t members) {
  const auto length = as_signed(words.size());
  const auto neighbours = neighbours_of(words);
  if (!demand(neighbours.has_value(), "a list of neighbours that is too short:", length)) return false;
  for (const auto& side : {neighbours->sources, neighbours->destinations})
    for (const std::uint32_t member : side)
      if (!demand(member < members, "there is no neighbour", member)) return false;
  if (!neighbours->have_sizes())
    return demand(neighbours->rest.empty(), "a list of neighbours of length", length);
  for (std::size_t i = 0; i < neighbours->destinations.size(); ++i)
    if (!demand(is_size(neighbours->size(i)), "a size of", neighbours->size(i)) ||
        !add_bytes(neighbours->size(i), 1))
      return false;
  return true;
}

bool CheckedSink::check_detail(const TimedEvent& event) {
  if (event.detail == nullptr) return true;
  const Detail& detail = *event.detail;
  const bool whole = (detail.content & kHasPayload) != 0;
  return demand(!whole || event.event.size <= as_signed(kExcerptBytes), "a payload in the file of",
                event.event.size) &&
         claim(highest_.datatype, detail.datatype.value, "there is no datatype");
}

bool CheckedSink::holds(const TimedEvent& event) {
  const Event& e = event.event;
  if (!demand(is_rank(event.rank.value), "there is no rank", event.rank.value)) return false;
  if (e.kind > kLastEventKind) return false;  // a newer version's
  const bool between_two = is_one_of(kSends, e.kind) || is_one_of(kReceives, e.kind);
  return demand(belongs_in_a_file(e.kind), "there is no kind of event", static_cast<int>(e.kind)) &&
         demand(!between_two || is_peer(e), "there is no peer", e.peer) &&
         demand(e.kind != EventKind::kCancelled || is_rank(e.peer) || e.peer == kProcNull.value,
                "there is no peer", e.peer) &&
         demand(!is_one_of(kSends, e.kind) || e.operation <= static_cast<std::uint8_t>(SendMode::kReady),
                "there is no send mode", e.operation) &&
         demand(is_size(e.size), "a message of", e.size) &&
         (!is_one_of(kSends, e.kind) || add_bytes(e.size, 1)) && check_ids(event) && check_times(event) &&
         check_answer(event.answer) && check_lists(event) && check_detail(event);
}

bool CheckedSink::holds(RankId receiver, const Answer& match) {
  return demand(is_rank(receiver.value), "there is no rank", receiver.value) &&
         demand(is_rank(match.source) || match.source == kProcNull.value, "there is no source",
                match.source) &&
         check_answer(match) && claim_thread(receiver, match.thread);
}

void CheckedSink::on_communicator(const Communicator& communicator) {
  const std::size_t size = communicator.members.size();
  const bool is_world = communicator.id.value == 0;
  if (!demand(communicator.first_group == 0 || communicator.first_group < size, "a first group of",
              as_signed(communicator.first_group)) ||
      !claim(highest_.comm, communicator.id.value, "there is no communicator") ||
      !demand(!is_world || (size == static_cast<std::size_t>(ranks_) && communicator.first_group == 0),
              "a world communicator of", as_signed(size)) ||
      !demand(budget_.take(size),
              "more members of communicators than the file has room for, with communicator",
              communicator.id.value))
    return;
  Members members;
  members.everybody = true;
  members.size = static_cast<std::uint32_t>(size);
  members.first_group = static_cast<std::uint32_t>(communicator.first_group);
  for (std::size_t i = 0; i < size; ++i) {
    const RankId member = communicator.members[i];
    if (!demand(is_rank(member.value), "there is no member", member.value)) return;
    members.everybody = members.everybody && member.index() == i;
  }
  if (!demand(!is_world || members.everybody, "a world communicator in another order, of", as_signed(size)))
    return;
  if (!members.everybody) {
    members.sorted.reserve(size);
    for (std::size_t i = 0; i < size; ++i)
      members.sorted.emplace_back(communicator.members[i].value, static_cast<std::uint32_t>(i));
    std::sort(members.sorted.begin(), members.sorted.end());
    for (std::size_t i = 1; i < size; ++i)
      if (!demand(members.sorted[i - 1].first != members.sorted[i].first, "twice in a communicator: rank",
                  members.sorted[i].first))
        return;
  }
  const auto [known, is_new] = communicators_.try_emplace(communicator.id.value);
  const Members& before = known->second;
  if (!demand(is_new || (before.size == size && before.first_group == members.first_group &&
                         before.sorted == members.sorted),
              "defined twice, and differently: communicator", communicator.id.value))
    return;
  if (is_new) known->second = std::move(members);
  sink_.on_communicator(communicator);
}

void CheckedSink::on_call_path(const CallPath& path) {
  if (demand(true, "", 0) && claim(highest_.site, path.id.value, "there is no call path"))
    sink_.on_call_path(path);
}

void CheckedSink::on_region(const Region& region) {
  if (demand(true, "", 0) && claim(highest_.region, region.id.value, "there is no region"))
    sink_.on_region(region);
}

void CheckedSink::on_datatype(const Datatype& datatype) {
  if (demand(is_size(datatype.bytes), "a datatype of", datatype.bytes) &&
      claim(highest_.datatype, datatype.id.value, "there is no datatype"))
    sink_.on_datatype(datatype);
}

}  // namespace nplus1::events
