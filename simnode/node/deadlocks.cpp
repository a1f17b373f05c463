#include "simnode/node/deadlocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "events/mpi_call.hpp"
#include "events/thread_change.hpp"

namespace nplus1::simnode::node {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kPatience = 20ms;
constexpr std::chrono::milliseconds kThreadPatience = 1s;
constexpr std::chrono::milliseconds kPatienceAfterDeath = 3s;

std::string comm_name(CommId comm) {
  return comm.value == 0 ? std::string{"MPI_COMM_WORLD"} : fmt::format("communicator {}", comm.value);
}

std::string ranks_text(const std::vector<RankId>& ranks) {
  constexpr std::size_t kShown = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size() && i < kShown; ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(ranks[i].value);
  }
  return ranks.size() > kShown ? text + ", ..." : text;
}

std::string awaited_text(const engine::BlockedThread& b) {
  if (b.any_source) return "a message from any source";
  if (b.awaits.empty()) return "nothing that anybody can still do";
  return ranks_text(b.awaits);
}

/// Threads of a process, from /proc.
int threads_of(std::int32_t pid) {
  int n = 0;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error))
    ++n;
  return n;
}

}  // namespace

/// Where the program may call MPI from several threads, one that is not in a call may still send.
bool Deadlocks::threads_may_run(const std::vector<engine::BlockedThread>& waiting) const {
  for (const JobRank& r : ranks_) {
    if (r.gone || !r.several_threads()) continue;
    const RankId rank = ranks_.id_of(r);
    const auto mine = std::count_if(waiting.begin(), waiting.end(),
                                    [&](const engine::BlockedThread& b) { return b.rank == rank; });
    if (threads_of(r.pid) - r.start.native_threads > mine) return true;
  }
  return false;
}

std::string Deadlocks::place_of(RankId rank, CallSiteId site) {
  const auto& frames = translator_.call_path(site).frames;
  if (!frames.empty() && frames.front().line != 0) return source_lines_.call_from(frames.front());
  if (frames.empty() || frames.front().offset == 0) return "an unknown place";
  std::string module = frames.front().module;
  // The loader calls a program what its caller called it.
  if (module.empty() || module.front() != '/') module = "/proc/" + std::to_string(ranks_[rank].pid) + "/exe";
  std::error_code error;
  const auto resolved = std::filesystem::canonical(module, error);
  return source_lines_.call_returning_to(error ? module : resolved.string(), frames.front().offset);
}

std::string Deadlocks::deadlock_report() {
  const auto blocked = engine_.blocked();
  std::string text = fmt::format(
      "\nnplus1: deadlock: all {} ranks wait for each other and no message is on its way.\n", ranks_.size());
  constexpr std::size_t kShown = 64;
  for (std::size_t i = 0; i < blocked.size() && i < kShown; ++i) {
    text += line_of(blocked[i]);
  }
  if (blocked.size() > kShown) text += fmt::format("  and {} more\n", blocked.size() - kShown);
  return text + what_follows();
}

std::string Deadlocks::line_of(const engine::BlockedThread& b) {
  if (events::is_thread_change(b.event, events::ThreadChange::kIdle)) return {};  // it waits for no rank
  if (b.event.kind == events::EventKind::kLocal)
    return fmt::format("  rank {} waits in pthread_join for one of its threads\n", b.rank.value);
  std::string text =
      fmt::format("  rank {} in {}", b.rank.value, events::name(static_cast<events::MpiCall>(b.event.call)));
  if (b.event.tag >= 0 && b.event.request.value != 0) text += fmt::format(", tag {}", b.event.tag);
  return text + fmt::format(" on {}, called from {}, waits for {}\n", comm_name(b.event.comm),
                            place_of(b.rank, b.event.site), awaited_text(b));
}

const char* Deadlocks::what_follows() const {
  return settings_.abort_on_deadlock ? "The job is ended with exit code 86. Break the cycle above, or run "
                                       "with --on-deadlock continue.\n"
                                     : "The job is left as it is (--on-deadlock continue).\n";
}

void Deadlocks::tell_deadlock(const std::string& text, RankId first,
                              const std::vector<engine::BlockedThread>& others) {
  said_ = true;
  notes_.push_back(text.substr(1));
  if (!settings_.abort_on_deadlock) return ranks_.send_text(first, events::AnswerKind::kNotice, true, text);
  for (const engine::BlockedThread& b : others)
    if (b.rank != first) ranks_.send_text(b.rank, events::AnswerKind::kDeadlock, false, {});
  ranks_.send_text(first, events::AnswerKind::kDeadlock, true, text);
}

/// Whether all have been blocked for long enough. A thread may have sent something just before it ended.
bool Deadlocks::blocked_for_long() {
  const auto now = std::chrono::steady_clock::now();
  if (engine_.state() != engine::State::kAllBlocked) all_blocked_since_.reset();
  if (engine_.state() != engine::State::kAllBlocked || said_) return false;
  if (!all_blocked_since_) all_blocked_since_ = now;
  if (ranks_.one_has_died()) return now - *all_blocked_since_ > kPatienceAfterDeath;
  if (!ranks_.may_have_several_threads()) return true;
  // Idle helper threads (OpenMP) look like threads that may still send: they get long, not for ever.
  return now - *all_blocked_since_ > (threads_may_run(engine_.blocked()) ? kThreadPatience : kPatience);
}

void Deadlocks::look() {
  look_for_deadlock();
  look_for_standstill();
}

void Deadlocks::look_for_deadlock() {
  if (!blocked_for_long()) return;
  all_blocked_since_.reset();
  if (engine_.release_rendezvous()) {
    engine_.decide();
    return;
  }
  const auto blocked = engine_.blocked();
  if (blocked.empty() || threads_may_run(blocked)) return;
  tell_deadlock(deadlock_report(), blocked.front().rank, blocked);
}

/// Whether nothing has moved for long anywhere.
bool Deadlocks::stands_still() {
  std::vector<Standstill::Sample> samples;
  for (const JobRank& r : ranks_) {
    const transport::RankBlock* block = r.port ? r.port->block() : nullptr;
    if (r.gone && !r.finalized) return false;  // mpirun ends the job
    if (r.gone || r.finalized) {
      samples.push_back({.over = true});
      continue;
    }
    if (block == nullptr) {  // its events show its calls, and what it tells how it waits
      samples.push_back(
          {.activity = static_cast<std::uint32_t>(r.events), .looks = r.looks, .moves = r.moves});
      continue;
    }
    samples.push_back({.activity = block->activity.load(std::memory_order_acquire),
                       .looks = block->native_polls.load(std::memory_order_acquire),
                       .moves = block->native_moves.load(std::memory_order_relaxed)});
  }
  return standstill_.look(samples, std::chrono::steady_clock::now());
}

std::string Deadlocks::standstill_report() {
  std::string text = fmt::format(
      "\nnplus1: deadlock: all {} ranks wait, some of them inside the MPI library, and for {} s nothing has "
      "moved.\n",
      ranks_.size(), Standstill::kLong.count());
  const auto blocked = engine_.blocked();
  const auto outside = engine_.outside();
  constexpr std::size_t kShown = 64;
  for (std::size_t i = 0; i < ranks_.size() && i < kShown; ++i) {
    const RankId rank{static_cast<std::int32_t>(i)};
    bool told = false;
    for (const engine::BlockedThread& b : blocked) {
      if (b.rank != rank) continue;
      text += line_of(b);
      told = true;
    }
    const auto tell_inside = [&](std::uint16_t call, CallSiteId site) {
      text += fmt::format("  rank {} in {}, called from {}, waits inside the MPI library\n", i,
                          events::name(static_cast<events::MpiCall>(call)), place_of(rank, site));
      told = true;
    };
    for (const engine::BlockedThread& b : outside)
      if (b.rank == rank) tell_inside(b.event.call, b.event.site);
    if (told) continue;
    if (ranks_[rank].finalized)
      text += fmt::format("  rank {} has called MPI_Finalize\n", i);
    else
      tell_inside(ranks_[rank].last_call, ranks_[rank].last_site);
  }
  if (ranks_.size() > kShown) text += fmt::format("  and {} more\n", ranks_.size() - kShown);
  return text + what_follows();
}

/// As above where some wait inside the MPI library, of which only what the ranks' own polls show is known.
void Deadlocks::look_for_standstill() {
  constexpr std::chrono::milliseconds kBetween = 100ms;
  const auto now = std::chrono::steady_clock::now();
  if (said_ || now - standstill_looked_ < kBetween) return;
  standstill_looked_ = now;
  // What is being decided will be, by force if need be (Watch).
  if (engine_.state() != engine::State::kRunning) return standstill_.reset();
  if (!stands_still()) return;
  standstill_.reset();
  auto waiting = engine_.blocked();
  const auto outside = engine_.outside();
  waiting.insert(waiting.end(), outside.begin(), outside.end());
  if (threads_may_run(waiting)) return;
  if (engine_.release_rendezvous(true)) return engine_.decide();
  const auto first =
      std::find_if(ranks_.begin(), ranks_.end(), [](const JobRank& r) { return !r.finalized; });
  if (first == ranks_.end()) return;
  tell_deadlock(standstill_report(), ranks_.id_of(*first), waiting);
}

}  // namespace nplus1::simnode::node
