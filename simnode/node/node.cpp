#include "simnode/node/node.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "semantics/time_settings.hpp"
#include "stubs/transport/channel.hpp"

namespace nplus1::simnode::node {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSlotsPerTurn = transport::kEventSlots;
constexpr int kIdleMs = 2;
constexpr int kNativeMs = 20;
constexpr int kAloneMs = 50;  // nobody connected yet, or nobody left
/// Falling asleep and being woken takes both sides longer than most answers take to be followed by the next event.
constexpr auto kSpin = 50us;
constexpr auto kLongYield = 500us;
constexpr int kSpinsLeftOut = 100;
/// Looking at a rank reads files of the kernel's, which change no sooner than its clock ticks.
constexpr auto kBetweenLooks = 250us;
constexpr std::int32_t kMostRanks = 1 << 20;
constexpr std::chrono::seconds kRankPatience{10};  // for a rank of ours to take what it asked for

void add_to(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

bool ended(int fd) {
  char byte;
  const ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

const char* what_it_does(Watch::Place place) {
  switch (place) {
    case Watch::Place::kApplication:
      return "computed";
    case Watch::Place::kMpiCall:
      return "been in an MPI call";
    case Watch::Place::kNativeWait:
      return "waited for other ranks inside the MPI library";
    case Watch::Place::kUnknown:
      return "said nothing";
  }
  return "";
}

}  // namespace

Node::Node(Settings settings, NetworkMaker make_network, netmodel::Selection collectives)
    : settings_{std::move(settings)},
      make_network_{std::move(make_network)},
      collectives_{std::move(collectives)},
      test_delay_{settings_.test_delay} {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  add_to(epoll_, wake_);
}

Node::~Node() = default;

std::optional<transport::Meeting> Node::listen() {
  door_.emplace(epoll_);
  if (!door_->open(settings_.hosts)) return std::nullopt;
  return door_->meeting();
}

Outcome Node::run(int input) {
  input_ = input;
  add_to(epoll_, input_);
  while (!job_over_) {
    const std::size_t slots = drain();
    if (engine_) {
      decide();
      tick_recording();
    }
    flush();
    const bool idle = slots == 0 && !has_work_soon();
    if (idle || std::chrono::steady_clock::now() - looked_ > kBetweenLooks) observe();
    if (idle) wait_for_work();
  }
  while (drain() > 0) {
  }
  if (native_)
    finish_native();
  else
    decide();
  finish_recording();
  return write_results();
}

/// What the engine cannot cope with is a fault of ours, and must not cost more than the rest of the simulation.
void Node::decide() {
  simulate([this] {
    engine_->decide();
    watch_->follow(*engine_);
  });
}

/// What follows from what ranks are seen to do, or from nothing happening.
void Node::observe() {
  looked_ = std::chrono::steady_clock::now();
  if (job_over_) return;
  simulate([this] {
    watch();
    look_for_deadlock();
    look_for_standstill();
  });
  flush();
}

bool Node::somebody_waits() const {
  return engine_ && (engine_->state() == engine::State::kWaiting || engine_->somebody_asks());
}

bool Node::has_input() const {
  return engine_ && std::any_of(ranks_.begin(), ranks_.end(),
                                [](const Rank& r) { return r.port && !r.gone && r.port->has_input(); });
}

/// Where an answer is waited for, what it depends on mostly comes at once: looks for it for a moment, while whoever can
/// use the core has it. If that is somebody who keeps it, as on a busy host, then who sleeps is let in sooner.
bool Node::has_work_soon() {
  if (!segment_ || !somebody_waits()) return false;
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
  if (segment_) {
    segment_.header().simulator_sleeping.store(somebody_waits() ? 2 : 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (has_input()) return segment_.header().simulator_sleeping.store(0, std::memory_order_relaxed);
  }
  epoll_event found[64];
  const int n = epoll_wait(epoll_, found, 64, idle_ms());
  if (segment_) segment_.header().simulator_sleeping.store(0, std::memory_order_relaxed);
  for (int i = 0; i < n; ++i) {
    const int fd = found[i].data.fd;
    if (fd == wake_) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t got = read(wake_, &count, sizeof(count));
    } else if (fd == input_) {
      char buffer[64];
      job_over_ = read(input_, buffer, sizeof(buffer)) <= 0;
    } else {
      serve(fd);
    }
  }
  if (door_->has_guests()) door_->tick(std::chrono::steady_clock::now());
}

void Node::serve(int fd) {
  if (door_->knows(fd)) {
    door_->serve(fd);
    for (const Arrival& arrival : door_->arrivals()) welcome(arrival);
    return;
  }
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (ranks_[r].socket != fd) continue;
    if (!ranks_[r].started)
      start_rank(ranks_[r]);
    else if (ended(fd))
      lose(RankId{static_cast<std::int32_t>(r)});
    else if (ranks_[r].port->block() != nullptr)  // over TCP these are events
      hear(RankId{static_cast<std::int32_t>(r)});
  }
}

/// Who simulates nothing keeps nobody waiting, and stays out of the ranks' way.
int Node::idle_ms() const {
  if (started_ == 0) return kAloneMs;
  return native_ ? kNativeMs : kIdleMs;
}

void Node::begin_segment(int ranks) {
  ranks_.resize(static_cast<std::size_t>(ranks));
  memory_ = transport::create_segment_fd(ranks);
  if (memory_ >= 0) segment_ = transport::map_segment(memory_, ranks);
  if (segment_) segment_.initialise();
}

bool Node::make_network(int ranks) {
  auto network = make_network_(ranks);
  if (network) {
    network_ = std::move(network).value();
    if (network_->contention_free() && !settings_.native)
      notes_.push_back("the network model knows no contention: messages never share links");
    return true;
  }
  leave_trouble(settings_.output, network.error());
  return false;
}

/// Of this job, but is it what it says? A rank that is none would size memory, or take another's place.
bool Node::may_be_rank(const transport::Hello& hello) const {
  if (hello.rank < 0 || hello.rank >= hello.ranks || hello.ranks > kMostRanks) return false;
  if (settings_.ranks > 0 && hello.ranks != settings_.ranks) return false;
  return ranks_.empty() || (static_cast<std::size_t>(hello.ranks) == ranks_.size() &&
                            ranks_[static_cast<std::size_t>(hello.rank)].socket < 0 &&
                            !ranks_[static_cast<std::size_t>(hello.rank)].gone);
}

void Node::welcome(const Arrival& guest) {
  const transport::Hello& hello = guest.hello;
  if (given_up_ || !may_be_rank(hello)) {
    close(guest.socket);
    return;
  }
  if (ranks_.empty()) begin_segment(hello.ranks);
  if (settings_.output.empty()) settings_.output = choose_output(hello.pid);
  if (application_.empty()) application_ = program_of(hello.pid);
  if (!network_ && !make_network(hello.ranks)) {
    given_up_ = true;
    close(guest.socket);
    return;
  }
  if (settings_.record == Record::kFull && !writer_) begin_recording(hello.ranks);
  Rank& rank = ranks_[static_cast<std::size_t>(hello.rank)];
  rank.socket = guest.socket;
  rank.pid = hello.pid;
  transport::Welcome answer;
  answer.has_segment = guest.local && segment_ ? 1 : 0;
  answer.config = settings_.config();
  answer.config.compute_scale *= network_->compute_scale(RankId{hello.rank});
  const std::string parts[] = {network_->describe_to_ranks(), settings_.output, settings_.record_region,
                               semantics::packed(settings_.compute_rules, RankId{hello.rank}),
                               compute_intervals_of(RankId{hello.rank})};
  std::string texts;
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    answer.text_bytes[i] = parts[i].size();
    texts += parts[i];
  }
  const transport::Deadline until = std::chrono::steady_clock::now() + kRankPatience;
  if (!transport::send_all(rank.socket, &answer, sizeof(answer), until) ||
      !transport::send_all(rank.socket, texts.data(), texts.size(), until) ||
      (answer.has_segment != 0 && !transport::send_descriptors(rank.socket, memory_, wake_)))
    return give_up(fmt::format("rank {} did not take its settings", hello.rank));
  add_to(epoll_, rank.socket);
}

/// As they travel; a rank that the recording does not have gets none.
std::string Node::compute_intervals_of(RankId rank) const {
  const auto& all = settings_.compute_intervals.of_rank;
  if (rank.index() >= all.size()) return {};
  const auto& mine = all[rank.index()];
  return {reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(mine.front())};
}

/// What has come of a rank's Start. One that leaves before it would be waited for by all others.
void Node::start_rank(Rank& rank) {
  const ssize_t n = recv(rank.socket, reinterpret_cast<char*>(&rank.start) + rank.start_bytes,
                         sizeof(rank.start) - rank.start_bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const auto index = static_cast<std::int32_t>(&rank - ranks_.data());
  if (n <= 0) return give_up(fmt::format("rank {} left while the others were starting", index));
  rank.start_bytes += static_cast<std::size_t>(n);
  if (rank.start_bytes < sizeof(rank.start)) return;
  if (rank.start.active == 0) return let_go(rank);  // as the ranks have agreed, all of them
  rank.started = true;
  if (rank.start.shared_memory != 0 && !segment_)
    return give_up(fmt::format("rank {} uses memory that it was not given", index));
  rank.port = rank.start.shared_memory != 0 ? make_shared_memory_port(segment_.rank(index))
                                            : make_tcp_port(rank.socket);
  if (++started_ == static_cast<int>(ranks_.size())) all_started();
}

void Node::let_go(Rank& rank) {
  if (rank.socket >= 0) {
    epoll_ctl(epoll_, EPOLL_CTL_DEL, rank.socket, nullptr);
    close(rank.socket);
  }
  rank.socket = -1;
  rank.gone = true;
}

void Node::give_up(const std::string& why) {
  given_up_ = true;
  leave_trouble(settings_.output, {"the simulation did not begin: " + why,
                                   "the program ran as if without nplus1; run it again"});
  for (Rank& rank : ranks_) let_go(rank);
}

void Node::all_started() {
  door_->close();
  const int n = static_cast<int>(ranks_.size());
  engine::Options options;
  options.poll_cost = settings_.poll_cost;
  options.storage = settings_.storage;
  options.watch_links = settings_.record != Record::kOff;
  options.look_ahead = true;
  options.collectives = &collectives_;
  options.report_all_matches = settings_.record != Record::kOff;
  engine_ = std::make_unique<engine::Engine>(n, *network_, *this, options);
  translator_ = std::make_unique<Translator>(n, *engine_);
  observers_ = std::make_unique<patterns::Observers>(ranks_.size(), network_.get(), &collectives_);
  observers_->add_to(sinks_);
  observers_->add_to(definitions_);
  if (writer_) {
    definitions_.add(*writer_);
    if (!settings_.native) recorder_ = std::make_unique<engine::Recorder>(ranks_.size(), *writer_, sinks_);
  }
  if (settings_.native) begin_native();
  events_per_rank_.assign(ranks_.size(), 0);
  Watch::Clock clock;
  // Counted instructions may come to less than the CPU time that passes.
  clock.measured =
      settings_.compute_times.mode == semantics::ComputeMode::kMeasured && settings_.clock != "instructions";
  clock.scale = settings_.compute_times.scale;
  clock.wall = uses_wall_clock();
  watch_ = std::make_unique<Watch>(n, clock);
  for (int r = 0; r < n; ++r) {
    Rank& rank = ranks_[static_cast<std::size_t>(r)];
    watch_->add(RankId{r}, rank.pid, rank.port->block(), rank.several_threads(),
                network_->compute_scale(RankId{r}));
  }
  begin_ = std::chrono::steady_clock::now();
}

bool Node::uses_wall_clock() const {
  if (settings_.native) return true;
  if (settings_.clock != "auto") return settings_.clock == "wall";
  if (settings_.config().twins != 0) return false;
  return !ranks_.empty() && static_cast<int>(ranks_.size()) + 1 <= ranks_.front().start.cores;
}

const char* Node::clock_used() const {
  if (uses_wall_clock()) return "wall";
  return settings_.clock == "instructions" ? "instructions" : "cpu";
}

std::size_t Node::drain() {
  if (!engine_) return 0;
  std::size_t slots = 0;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const RankId rank{static_cast<std::int32_t>(i)};
    if (!ranks_[i].port || ranks_[i].gone) continue;
    try {
      slots += drain(rank);
    } catch (const std::exception& error) {
      abandon(fmt::format("rank {}: {}", i, error.what()));
    }
  }
  return slots;
}

std::size_t Node::drain(RankId rank) {
  Port& port = *ranks_[rank.index()].port;
  return port.read(kSlotsPerTurn, [this, rank](const transport::Slot& slot) {
    Port& from = *ranks_[rank.index()].port;
    if (!from.assembler.take(slot)) return;
    test_delay_.pause();
    take(rank, from);
  });
}

void Node::flush() {
  for (Rank& r : ranks_)
    if (r.port && r.port->has_output() && !r.gone) r.port->flush();
}

void Node::lose(RankId rank) {
  while (drain() > 0) {  // what it said before it went
  }
  Rank& r = ranks_[rank.index()];
  if (r.gone) return;
  if (!engine_) return give_up(fmt::format("rank {} ended while the others were starting", rank.value));
  let_go(r);
  engine_->rank_gone(rank);
  wall_time_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

/// A rank that is about to end waits a moment for the others: where all are, each may take its leave of the process
/// manager (stubs/runtime/leaving.cpp).
void Node::hear(RankId rank) {
  char word = 0;
  if (recv(ranks_[rank.index()].socket, &word, 1, MSG_DONTWAIT) != 1) return;
  if (word == transport::kLeave) return abandon(fmt::format("rank {} has left the simulation", rank.value));
  ranks_[rank.index()].ending = true;
  if (!std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.ending && !r.gone; })) return;
  word = transport::kAllEnd;
  for (const Rank& r : ranks_)
    if (send(r.socket, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1) return;
}

/// The ranks see the end of their lines. One alone must not leave: the others would wait for it for ever.
void Node::abandon(const std::string& why) {
  if (abandoned_) return;
  abandoned_ = true;
  notes_.push_back(
      fmt::format("the simulation ended early ({}); the program went on without it, and the results show "
                  "what was seen until then",
                  why));
  for (Rank& rank : ranks_)
    if (!rank.gone) let_go(rank);
  wall_time_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void Node::on_exit(const events::TimedEvent& event) {
  if (recorder_)
    recorder_->exited(event);
  else
    sinks_.on_event(event);
  if (!event.event.has(events::kNeedsAnswer)) return;
  Rank& r = ranks_[event.rank.index()];
  if (r.port) r.port->send(event.answer, std::as_bytes(event.completed));
}

void Node::on_match(RankId receiver, const events::Answer& answer) {
  sinks_.on_match(receiver, answer);
  if (recorder_) recorder_->matched(receiver, answer);
  if (answer.flag == 0) return;
  Rank& r = ranks_[receiver.index()];
  if (r.port) r.port->send(answer, {});
}

void Node::on_meeting(RankId receiver, const events::Answer& answer) {
  Rank& r = ranks_[receiver.index()];
  if (r.port) r.port->send(answer, {});
}

void Node::send_text(RankId rank, events::AnswerKind kind, bool flag, const std::string& text) {
  events::Answer answer;
  answer.kind = kind;
  answer.flag = flag ? 1 : 0;
  answer.aux = text.size();
  Rank& r = ranks_[rank.index()];
  if (r.port) r.port->send(answer, std::as_bytes(std::span{text.c_str(), text.size() + 1}));
}

void Node::watch() {
  watch_->look(*engine_);
  const auto rank = watch_->long_awaited();
  if (!rank) return;
  const auto blocked = engine_->blocked();
  if (blocked.empty()) return;
  send_text(blocked.front().rank, events::AnswerKind::kNotice, true,
            "nplus1: rank " + std::to_string(rank->value) + " has " + what_it_does(watch_->place(*rank)) +
                " for 10 s while others wait for its next MPI call; still running\n");
}

}  // namespace nplus1::simnode::node
