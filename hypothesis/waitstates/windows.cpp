#include "hypothesis/waitstates/windows.hpp"

#include <algorithm>

namespace nplus1::hypothesis {
namespace {

using events::WindowSync;

Partner giver(bool completion, std::int32_t rank, Time at, const Path& path) {
  Partner partner;
  partner.state = completion ? WaitState::kEarlyWait : WaitState::kLatePost;
  partner.rank = RankId{rank};
  partner.at = partner.done = at;
  partner.path = path;
  return partner;
}

std::int32_t target_of(const events::Event& event) {
  const WindowSync what = event.window_sync();
  return what == WindowSync::kLock || what == WindowSync::kUnlock ? event.peer : -1;
}

}  // namespace

void WindowCalls::give_notices(const events::TimedEvent& timed, const Path& path, const Tell& tell) {
  const events::Event& event = timed.event;
  const bool completion = event.window_sync() == WindowSync::kComplete;
  for (const std::uint32_t word : timed.extension.words) {
    const NoticeKey key{event.comm.value, timed.rank.value, static_cast<std::int32_t>(word), completion};
    Notices& notices = notices_[key];
    if (notices.taken.empty()) {
      notices.given.emplace_back(event.entry(), path);
      continue;
    }
    const Waiter waiter = notices.taken.front();
    notices.taken.pop_front();
    if (notices.taken.empty()) notices_.erase(key);
    tell(waiter, giver(completion, timed.rank.value, event.entry(), path));
  }
}

bool WindowCalls::take_notices(const events::TimedEvent& timed, const Waiter& waiter, const Tell& tell) {
  const events::Event& event = timed.event;
  const bool completion = event.window_sync() != WindowSync::kStart;
  bool is_told = false;
  for (const std::uint32_t word : timed.extension.words) {
    const auto from = static_cast<std::int32_t>(word);
    const bool was_last = from == timed.answer.source && !is_told;
    is_told = is_told || was_last;
    const NoticeKey key{event.comm.value, from, timed.rank.value, completion};
    Notices& notices = notices_[key];
    if (notices.given.empty()) {
      notices.taken.push_back(was_last ? waiter : Waiter{});
      continue;
    }
    const auto [at, path] = std::move(notices.given.front());
    notices.given.pop_front();
    if (notices.given.empty()) notices_.erase(key);
    if (was_last) tell(waiter, giver(completion, from, at, path));
  }
  return is_told;
}

/// Between asking and getting it a lock's last holder gives it back once.
bool WindowCalls::ends(const Release& release, const Asked& asked) {
  const bool same =
      release.target == kAllTargets || asked.target == kAllTargets || release.target == asked.target;
  return same && release.at > asked.entry;
}

Partner WindowCalls::holder_of(const HolderKey& key, const Release& release) {
  Partner partner;
  partner.state = WaitState::kLockContention;
  partner.rank = RankId{key.second};
  partner.at = partner.done = release.at;
  partner.path = release.path;
  return partner;
}

void WindowCalls::release(const events::TimedEvent& timed, const Path& path, const Tell& tell) {
  const HolderKey key{timed.event.comm.value, timed.rank.value};
  Holder& holder = holders_[key];
  const Release release{std::max(timed.exit, timed.event.entry()), target_of(timed.event), path};
  holder.releases.push_back(release);
  if (holder.releases.size() > kReleasesKept) holder.releases.pop_front();
  const auto waits_on = [&](const Asked& asked) { return !ends(release, asked); };
  const auto told = std::stable_partition(holder.asked.begin(), holder.asked.end(), waits_on);
  const std::deque<Asked> ended{told, holder.asked.end()};
  holder.asked.erase(told, holder.asked.end());
  for (const Asked& asked : ended) tell(asked.waiter, holder_of(key, release));
}

void WindowCalls::await_release(const events::TimedEvent& timed, const Waiter& waiter, const Tell& tell) {
  const HolderKey key{timed.event.comm.value, timed.answer.source};
  Holder& holder = holders_[key];
  const Asked asked{timed.event.entry(), target_of(timed.event), waiter};
  const auto found = std::find_if(holder.releases.begin(), holder.releases.end(),
                                  [&](const Release& release) { return ends(release, asked); });
  if (found == holder.releases.end())
    holder.asked.push_back(asked);
  else
    tell(waiter, holder_of(key, *found));
}

}  // namespace nplus1::hypothesis
