// When every thread of every rank waits in a modelled call and nothing can be decided.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "events/mpi_call.hpp"
#include "simnode/node/node.hpp"

namespace nplus1::simnode::node {
namespace {

using namespace std::chrono_literals;

constexpr int kSerialized = 2;  // MPI_THREAD_SERIALIZED and above (MPICH's values)
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
bool Node::threads_may_run() const {
  const auto blocked = engine_->blocked();
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const Rank& r = ranks_[i];
    if (r.gone || r.start.threads_provided < kSerialized) continue;
    const auto mine = std::count_if(blocked.begin(), blocked.end(),
                                    [&](const engine::BlockedThread& b) { return b.rank.index() == i; });
    if (threads_of(r.pid) - r.start.native_threads > mine) return true;
  }
  return false;
}

std::string Node::place_of(RankId rank, CallSiteId site) {
  const auto& frames = translator_->call_path(site).frames;
  if (frames.empty() || frames.front().offset == 0) return "an unknown place";
  std::string module = frames.front().module;
  // The loader calls a program what its caller called it.
  if (module.empty() || module.front() != '/')
    module = "/proc/" + std::to_string(ranks_[rank.index()].pid) + "/exe";
  std::error_code error;
  const auto resolved = std::filesystem::canonical(module, error);
  return source_lines_.call_returning_to(error ? module : resolved.string(), frames.front().offset);
}

std::string Node::deadlock_report() {
  const auto blocked = engine_->blocked();
  std::string text = fmt::format(
      "\nnplus1: deadlock: all {} ranks wait for each other and no message is on its way.\n", ranks_.size());
  constexpr std::size_t kShown = 64;
  for (std::size_t i = 0; i < blocked.size() && i < kShown; ++i) {
    const engine::BlockedThread& b = blocked[i];
    text += fmt::format("  rank {} in {}", b.rank.value,
                        events::name(static_cast<events::MpiCall>(b.event.call)));
    if (b.event.tag >= 0 && b.event.request.value != 0) text += fmt::format(", tag {}", b.event.tag);
    text += fmt::format(" on {}, called from {}, waits for {}\n", comm_name(b.event.comm),
                        place_of(b.rank, b.event.site), awaited_text(b));
  }
  if (blocked.size() > kShown) text += fmt::format("  and {} more\n", blocked.size() - kShown);
  text +=
      settings_.abort_on_deadlock
          ? "The job is ended with exit code 86. Break the cycle above, or run with --on-deadlock continue.\n"
          : "The job is left as it is (--on-deadlock continue).\n";
  return text;
}

bool Node::threads_allowed() const {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& r) { return !r.gone && r.start.threads_provided >= kSerialized; });
}

/// Whether all have been blocked for long enough. A thread may have sent something just before it ended.
bool Node::blocked_for_long() {
  const auto now = std::chrono::steady_clock::now();
  if (engine_->state() != engine::State::kAllBlocked) all_blocked_since_.reset();
  if (engine_->state() != engine::State::kAllBlocked || deadlock_said_) return false;
  if (!all_blocked_since_) all_blocked_since_ = now;
  // Who has died leaves others waiting, and mpirun ends the job.
  const bool somebody_died =
      std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.gone && !r.finalized; });
  if (somebody_died) return now - *all_blocked_since_ > kPatienceAfterDeath;
  if (!threads_allowed()) return true;
  // Idle helper threads (OpenMP) look like threads that may still send: they get long, not for ever.
  return now - *all_blocked_since_ > (threads_may_run() ? kThreadPatience : kPatience);
}

void Node::look_for_deadlock() {
  if (!blocked_for_long()) return;
  all_blocked_since_.reset();
  if (engine_->release_rendezvous()) {
    engine_->decide();
    return;
  }
  const auto blocked = engine_->blocked();
  if (blocked.empty() || threads_may_run()) return;
  deadlock_said_ = true;
  const std::string text = deadlock_report();
  notes_.push_back(text.substr(1));
  for (const engine::BlockedThread& b : blocked) {
    const bool first = b.rank == blocked.front().rank;
    if (settings_.abort_on_deadlock)
      send_text(b.rank, events::AnswerKind::kDeadlock, first, first ? text : std::string{});
    else if (first)
      send_text(b.rank, events::AnswerKind::kNotice, true, text);
  }
}

}  // namespace nplus1::simnode::node
