#include "simnode/node/node.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "simnode/settings/beside.hpp"
#include "stubs/transport/channel.hpp"

namespace nplus1::simnode::node {
namespace {

using namespace std::chrono_literals;

constexpr int kIdleMs = 2;
constexpr int kNativeMs = 20;
constexpr int kAloneMs = 50;  // nobody connected yet, or nobody left
/// Who started it was killed while the launcher was about to start ranks.
constexpr auto kPatienceAlone = 10s;
/// Falling asleep and being woken takes both sides longer than most answers take to be followed by the next event.
constexpr auto kSpin = 50us;
constexpr auto kLongYield = 500us;
constexpr int kSpinsLeftOut = 100;
/// Looking at a rank reads files of the kernel's, which change no sooner than its clock ticks.
constexpr auto kBetweenLooks = 250us;

bool ended(int fd) {
  char byte;
  const ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

}  // namespace

Node::Node(Settings settings, NetworkMaker make_network, netmodel::Selection collectives)
    : settings_{std::move(settings)}, collectives_{std::move(collectives)}, acceptor_{settings_,
                                                                                      std::move(make_network),
                                                                                      poll_,
                                                                                      ranks_,
                                                                                      recording_,
                                                                                      notes_} {}

Outcome Node::run(int input) {
  input_ = input;
  poll_.add(input_);
  while (!job_over_ && (!alone_since_ || goes_on_alone())) take_turn();
  while (drain() > 0) {
  }
  if (simulation_) simulation_->finish();
  results_.finish_recording(simulation_.get());
  return results_.write(simulation_.get());
}

void Node::take_turn() {
  const std::size_t slots = drain();
  if (simulation_) {
    simulation_->decide();
    if (const auto trouble = recording_.tick())
      ranks_.send_text(RankId{0}, events::AnswerKind::kNotice, true, *trouble);
  }
  has_answered_ |= ranks_.flush();
  const bool idle = slots == 0 && !has_work_soon();
  if (idle || std::chrono::steady_clock::now() - looked_ > kBetweenLooks) observe();
  if (idle) wait_for_work();
}

std::size_t Node::drain() {
  if (!simulation_) return 0;
  const std::size_t slots = simulation_->drain();
  // The rank goes on as plain MPI. Without it the others would seem to wait for ever: they become plain MPI as well, as
  // soon as the simulator is gone.
  if (simulation_->has_lost_sight()) job_over_ = true;
  return slots;
}

void Node::observe() {
  looked_ = std::chrono::steady_clock::now();
  if (job_over_) return;
  if (simulation_) simulation_->observe();
  ranks_.flush();
}

/// Where an answer is waited for, what it depends on mostly comes at once; where one has been given, so does the next question, and
/// where there are cores enough nobody minds: looks for it for a moment, while whoever can use the core has it. If that is somebody
/// who keeps it, as on a busy host, then who sleeps is let in sooner.
bool Node::has_work_soon() {
  const transport::Segment& segment = acceptor_.segment();
  if (!segment) return false;
  const bool has_answered = std::exchange(has_answered_, false);
  if (!somebody_waits() && !(has_answered && segment.may_wait_awake(ranks_.cores()))) return false;
  if (crowded_ > 0) return --crowded_, false;
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (auto now = begin; now - begin < kSpin;) {
    if (has_input()) return true;
    sched_yield();
    const auto before = std::exchange(now, Clock::now());
    if (now - before > kLongYield) crowded_ = kSpinsLeftOut;
  }
  return has_input();
}

void Node::wait_for_work() {
  if (const transport::Segment& segment = acceptor_.segment()) {
    segment.header().simulator_sleeping.store(somebody_waits() ? 2 : 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (has_input()) return segment.header().simulator_sleeping.store(0, std::memory_order_relaxed);
  }
  const auto found = poll_.wait(idle_ms());
  if (const transport::Segment& segment = acceptor_.segment())
    segment.header().simulator_sleeping.store(0, std::memory_order_relaxed);
  for (const epoll_event& event : found) {
    const int fd = event.data.fd;
    if (fd == poll_.wake_fd()) {
      poll_.take_wake_up();
    } else if (fd == input_) {
      hear_starter();
    } else {
      serve(fd);
    }
  }
  acceptor_.tick();
}

void Node::hear_starter() {
  char words[64];
  const ssize_t said = read(input_, words, sizeof(words));
  if (said > 0) {
    starter_said_ = words[said - 1];
    return;
  }
  job_over_ = starter_said_ != settings::kBeside;
  if (job_over_) return;
  alone_since_ = std::chrono::steady_clock::now();
  poll_.close(std::exchange(input_, -1));
}

/// Ranks that their launcher is starting at that moment may come yet.
bool Node::goes_on_alone() const {
  const bool may_begin = !simulation_ && std::chrono::steady_clock::now() - *alone_since_ < kPatienceAlone;
  return may_begin || std::any_of(ranks_.begin(), ranks_.end(),
                                  [](const JobRank& rank) { return rank.socket >= 0 && !rank.gone; });
}

void Node::serve(int fd) {
  if (acceptor_.knows(fd)) return acceptor_.serve(fd);
  for (JobRank& rank : ranks_) {
    if (rank.socket != fd) continue;
    if (!rank.started) {
      if (acceptor_.start(rank)) all_started();
    } else if (ended(fd)) {
      lose(rank);
    } else if (rank.port->block() != nullptr) {  // over TCP these are events
      hear(rank);
    }
  }
}

/// Who simulates nothing keeps nobody waiting, and stays out of the ranks' way.
int Node::idle_ms() const {
  if (acceptor_.nobody_has_started()) return kAloneMs;
  return simulation_ && settings_.native ? kNativeMs : kIdleMs;
}

void Node::all_started() {
  acceptor_.close();
  simulation_ = std::make_unique<Simulation>(settings_, *acceptor_.network(), collectives_, ranks_,
                                             recording_, accounts_, notes_);
}

void Node::lose(JobRank& rank) {
  while (drain() > 0) {  // what it said before it went
  }
  if (rank.gone) return;
  const RankId id = ranks_.id_of(rank);
  if (!simulation_)
    return acceptor_.give_up(fmt::format("rank {} ended while the others were starting", id.value));
  simulation_->lose(id);
}

/// A rank that is about to end waits a moment for the others: where all are, each may take its leave of the process
/// manager (stubs/runtime/interposed/leaving.cpp).
void Node::hear(JobRank& rank) {
  char word = 0;
  if (recv(rank.socket, &word, 1, MSG_DONTWAIT) != 1) return;
  if (word == transport::kLeave) {
    // Before all have begun nothing has been simulated.
    const std::string why = fmt::format("rank {} has left the simulation", ranks_.id_of(rank).value);
    return simulation_ ? simulation_->abandon(why) : acceptor_.give_up(why);
  }
  rank.ending = true;
  if (!ranks_.all_are_ending()) return;
  word = transport::kAllEnd;
  for (const JobRank& r : ranks_)
    if (send(r.socket, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1) return;
}

}  // namespace nplus1::simnode::node
