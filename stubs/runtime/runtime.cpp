#include "stubs/runtime/runtime.hpp"
#include "stubs/runtime/error_hook.hpp"

#include <dlfcn.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "events/meeting.hpp"
#include "stubs/access/watch.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/progress_hook.hpp"
#include "stubs/runtime/receive_hook.hpp"
#include "stubs/runtime/send_hook.hpp"
#include "stubs/runtime/threads.hpp"
#include "stubs/runtime/twins.hpp"
#include "stubs/twin/twin.hpp"

namespace nplus1::stubs {
namespace {

constexpr int kDeadlockExitCode = 86;  // documented in docs/cli.md
/// Whoever has something for a rank rings its bell; it looks by itself only in case nobody knew that it has to.
constexpr std::int64_t kFirstSleepNs = 3'200'000;
constexpr std::int64_t kLongestSleepNs = 20'000'000;
/// With native sends outstanding: they may need this process to push them.
constexpr std::int64_t kFirstBackgroundSleepNs = 200'000;
constexpr std::int64_t kLongestBackgroundSleepNs = 3'200'000;

constinit thread_local ThreadState* this_thread = nullptr;

/// Hydra drops what it has not read when it ends a job: waits, not for ever, until it has read all, and
/// passed it on.
void await_empty_pipe(int descriptor) {
  int unread = 1;
  for (int i = 0; i < 200 && ioctl(descriptor, FIONREAD, &unread) == 0 && unread > 0; ++i)
    ::poll(nullptr, 0, 10);
  ::poll(nullptr, 0, 200);
}

std::uint64_t early_key(std::int32_t source, std::uint64_t sequence) {
  return (static_cast<std::uint64_t>(source) << 40) ^ sequence;
}

}  // namespace

/// Tells the simulator when a thread that has called MPI ends: nobody must wait for its next call.
struct ThreadEnd {
  bool armed = false;
  ~ThreadEnd() {
    if (armed && active()) guarded([] { runtime()->end_thread(); });
  }
};
thread_local ThreadEnd thread_end;

void Runtime::end_thread() {
  const std::lock_guard guard{lock};
  if (this_thread == nullptr) return;
  events::Event event;
  event.kind = events::EventKind::kFinalize;
  event.thread = this_thread->id;
  const Time now = this_thread->clock.base() + this_thread->clock.elapsed();
  event.compute_ps = (now - this_thread->reported).count();
  event.entry_ps = now.time_since_epoch().count();
  events::Detail detail;
  detail.wall_before_ns = detail.wall_entry_ns = capture_ ? this_thread->wall.at(ticks()) : 0;
  write(event, nullptr, capture_ ? &detail : nullptr);
  ring();
  note_thread_end(now);
  this_thread = nullptr;
}

ThreadState& Runtime::thread() {
  if (this_thread == nullptr) {
    threads_.push_back(std::make_unique<ThreadState>());
    this_thread = threads_.back().get();
    thread_end.armed = threads_.size() > 1;
    this_thread->id = ThreadId{static_cast<std::uint16_t>(threads_.size() - 1)};
    this_thread->poll_cost = settings_.poll_cost;
    std::unique_ptr<semantics::ProcessorCounter> counter;
    if (settings_.instructions)
      if (auto opened = semantics::open_processor_counter()) counter = std::move(opened).value();
    this_thread->clock.configure(&settings_, std::move(counter));
    if (settings_.accesses) access::set_clock(&this_thread->clock);
    // A new thread's virtual time begins where the process is now; what it computed before is not known.
    this_thread->reported = threads_.front()->clock.base();
    this_thread->recorded.begin(settings_.recorded, this_thread->id.value, this_thread->reported);
    start_clock(*this_thread, this_thread->reported);
    take_cell(*this_thread);
  }
  return *this_thread;
}

ThreadState* Runtime::thread_if_known() noexcept {
  return this_thread;
}

ThreadState& Runtime::locked_thread() {
  if (this_thread != nullptr) return *this_thread;
  const std::lock_guard guard{lock};
  return thread();
}

Runtime::~Runtime() {
  while (absorber_runs_) ::usleep(1000);
}

void Runtime::write(const events::Event& event, const void* extension, const events::Detail* detail) {
  switch (event.kind) {
    case events::EventKind::kCommDefine:
    case events::EventKind::kSiteDefine:
    case events::EventKind::kRegionDefine:
    case events::EventKind::kDatatypeDefine:
    case events::EventKind::kOutcome:
    case events::EventKind::kWarmTime:
      break;  // no part of the stream
    default:
      ++next_ordinal_;
  }
  if (!degraded_) channel_->write(event, extension, detail);
}

void Runtime::absorb() {
  transport::Slot slot;
  while (channel_->read(slot)) {
    if (pending_slots_ > 0) {
      take_extension(slot);
    } else {
      std::memcpy(&pending_, slot.bytes, sizeof(pending_));
      pending_words_.clear();
      pending_slots_ = pending_.extension;
      constexpr std::uint32_t kMost = 1U << 24U;  // a gigabyte: texts and lists of requests are far shorter
      if (pending_slots_ > kMost) return leave("an answer announces more than any has");
    }
    if (pending_slots_ == 0) take_answer(pending_);
  }
  if (!stamps_in_) return;
  stamps_in_->drain([this](const transport::Stamp& s) { take_stamp(s); });
  if (stamps_in_->broken()) leave("the memory shared with the other ranks is damaged");
}

/// Who cannot go on in the simulation goes on as plain MPI, as all others then do.
void Runtime::leave(const char* why) {
  pending_slots_ = 0;
  if (degraded_) return;
  std::fprintf(stderr, "nplus1: rank %d leaves the simulation: %s\n  so:   the program goes on without it\n",
               me_.value, why);
  channel_->leave();
  degrade();
}

void Runtime::take_extension(const transport::Slot& slot) {
  constexpr std::size_t kWords = events::kSlotBytes / sizeof(std::uint32_t);
  const std::size_t at = pending_words_.size();
  pending_words_.resize(at + kWords);
  std::memcpy(pending_words_.data() + at, slot.bytes, events::kSlotBytes);
  --pending_slots_;
}

void Runtime::take_answer(const events::Answer& answer) {
  switch (answer.kind) {
    case events::AnswerKind::kExit:
      for (const auto& t : threads_) {
        if (t->id != answer.thread) continue;
        t->answer_words = pending_words_;
        t->answer = answer;
      }
      return;
    case events::AnswerKind::kMatch:
      matched_elsewhere(answer);
      return;
    case events::AnswerKind::kNotice:
      print_text();
      return;
    case events::AnswerKind::kDeadlock:
      if (answer.flag == 0) return;  // another rank prints, and ends the job
      print_text();
      await_empty_pipe(STDERR_FILENO);
      pmpi::Abort(MPI_COMM_WORLD, kDeadlockExitCode);
      return;
    case events::AnswerKind::kNone:
      return;
  }
}

void Runtime::print_text() const {
  const char* text = reinterpret_cast<const char*>(pending_words_.data());
  const std::size_t length = strnlen(text, pending_words_.size() * sizeof(std::uint32_t));
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text, length);
}

void Runtime::take_stamp(const transport::Stamp& stamp) {
  const auto early = taken_early_.find(early_key(stamp.source, stamp.sequence));
  if (early != taken_early_.end()) {
    taken_early_.erase(early);
    return;
  }
  const semantics::Message message{
      stamp.comm,     RankId{stamp.source},        stamp.tag, bytes(stamp.size),
      stamp.sequence, Time{Duration{stamp.at_ps}}, 0,         stamp.rendezvous != 0};
  if (const auto receive = mailbox_.arrive(message)) {
    const RequestId id{static_cast<std::uint32_t>(receive->id)};
    Request* request = requests.find(id);
    requests.unindex(id);
    if (request != nullptr) settle(*request, message);
  }
}

void Runtime::settle(Request& request, const semantics::Message& message) const {
  request.known = true;
  request.overhead = network_->receive_overhead(message.size);
  request.peer = message.source;
  request.at = message.rendezvous ? semantics::rendezvous_end(*network_, message.at, request.posted,
                                                              message.source, me_, message.size)
                                  : std::max(message.at, request.posted);
}

void Runtime::take_message(const Communicator& comm, RankId source, std::uint64_t sequence) {
  if (!mailbox_.take(comm.key, source, sequence)) taken_early_[early_key(source.value, sequence)] = true;
}

/// The simulator has matched a receive that could not be matched here: its native receive can be posted now. On
/// networks with contention it is told of twice, when it is matched and when its message is there.
void Runtime::matched_elsewhere(const events::Answer& match) {
  const bool on_its_way = match.flag == events::kOnItsWay;
  Request* request = requests.find(match.request);
  if (!on_its_way || (request != nullptr && request->detached)) requests.unindex(match.request);
  if (direct_ && request != nullptr && match.source >= 0 && !request->met)
    take_message(*request->comm, RankId{match.source}, match.sequence);
  if (request == nullptr) return;
  const std::shared_ptr<Communicator> kept = request->comm;  // post_held may end the request
  Communicator& comm = *kept;
  if (!request->met) count_undecided(comm, -1);
  request->met = true;
  request->engine_decided = on_its_way;  // when, only the simulator can tell
  request->known = !on_its_way;
  request->at = match.exit();
  request->overhead = network_->receive_overhead(bytes(match.size));
  request->peer = RankId{match.source};
  post_held(*request, comm.rank_of(match.source), match.tag);
  free_if_due(comm);
}

void Runtime::post_held(Request& request, int source, std::int32_t tag) {
  if (!request.held) return;
  request.held = false;
  const Arguments& a = request.arguments;
  const ReceivesFromOne one;
  pmpi::Irecv(a.buffer, a.count, a.type, source, tag, request.comm->handle, &request.native);
  if (!request.detached) return;
  if (request.native != MPI_REQUEST_NULL) pmpi::Request_free(&request.native);
  requests.drop_detached(request);
}

bool Runtime::sleep_once(std::unique_lock<Lock>& held, SleepState& state) {
  if (degraded()) return false;
  if (!state.armed) {  // take a ticket, then look once more before sleeping on it
    state.ticket = channel_->prepare_sleep();
    state.armed = true;
    return true;
  }
  const auto [first, longest] = has_background()
                                    ? std::pair{kFirstBackgroundSleepNs, kLongestBackgroundSleepNs}
                                    : std::pair{kFirstSleepNs, kLongestSleepNs};
  state.nanoseconds = state.nanoseconds == 0 ? first : std::min(longest, 2 * state.nanoseconds);
  held.unlock();
  channel_->sleep(state.ticket, state.nanoseconds);
  held.lock();
  channel_->awake();
  state.armed = false;
  note_vain_look();
  push_native();
  if (++state.sleeps % 8 == 0 && channel_->simulator_gone()) degrade();
  return !degraded_;
}

/// Testing a request that never completes makes the MPI library's progress. A probe would too, but it walks
/// through all messages that nobody has received yet.
void Runtime::make_progress() {
  int flag = 0;
  pmpi::Test(&never_complete_, &flag, MPI_STATUS_IGNORE);
}

void Runtime::push_native() {
  progress_background(4);
  make_progress();
}

void Runtime::begin_progress() {
  pmpi::Grequest_start([](void*, MPI_Status*) { return MPI_SUCCESS; }, [](void*) { return MPI_SUCCESS; },
                       [](void*, int) { return MPI_SUCCESS; }, nullptr, &never_complete_);
}

void Runtime::end_progress() {
  finish_background();
  pmpi::Grequest_complete(never_complete_);
  pmpi::Wait(&never_complete_, MPI_STATUS_IGNORE);
}

void stop_observing(const char* why) noexcept {
  static std::atomic<bool> said{false};
  Runtime* rt = runtime();
  if (rt == nullptr || rt->degraded() || said.exchange(true)) return;
  char text[256];
  const int length =
      std::snprintf(text, sizeof(text),
                    "nplus1: rank %d: %s: the program goes on without us, and the simulation ends here\n",
                    static_cast<int>(rt->me().value), why);
  [[maybe_unused]] const ssize_t n =
      ::write(STDERR_FILENO, text, static_cast<std::size_t>(std::max(0, length)));
  rt->give_up();
}

void Runtime::give_up() noexcept {
  try {
    const std::lock_guard guard{lock};
    if (degraded_) return;
    events::Event event;
    event.kind = events::EventKind::kOutcome;
    channel_->write(event, nullptr);
    channel_->ring();
    degrade();
  } catch (...) {  // not even that: the end of the socket tells the simulator, when the process ends
    degraded_ = true;
  }
}

void recover_from_longjmp() noexcept {
  if (Runtime* rt = runtime()) rt->recover();
}

LateWord::LateWord(std::function<void()> word, ThreadState& thread)
    : word_{std::move(word)}, thread_{thread} {
  thread_.late_word = this;
}

LateWord::~LateWord() {
  thread_.late_word = nullptr;
}

void LateWord::say() {
  if (std::exchange(said_, true)) return;
  thread_.late_word = nullptr;
  word_();
}

void Runtime::recover() noexcept {
  ThreadState* thread = this_thread;
  if (thread == nullptr || !thread->in_call) return;
  set_native_wait(*thread, false);
  set_inside(false);
  thread->late_word = nullptr;
  thread->in_call = false;
  start_clock(*thread, thread->inside);  // what was computed since the jump is not known
  if (lock.is_held_here()) lock.unlock();
}

/// Virtual time of day is what the system's clocks show at virtual time zero, plus virtual time.
void Runtime::begin_clocks() {
  origin_ns_ = clock_ns(CLOCK_REALTIME);
  for (std::size_t id = 0; id < clock_lead_ns_.size(); ++id)
    clock_lead_ns_[id] = clock_ns(static_cast<clockid_t>(id)) - clock_ns(CLOCK_REALTIME);
  pmpi::Bcast(&origin_ns_, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
}

std::int64_t Runtime::origin_ns(clockid_t id) const {
  const auto index = static_cast<std::size_t>(id);
  return origin_ns_ + (index < clock_lead_ns_.size() ? clock_lead_ns_[index] : 0);
}

/// The simulator has died: from here on the job is plain MPI. Held receives are posted as they were asked
/// for, and in that order, which MPI matches by.
void Runtime::degrade() {
  degraded_ = true;
  access::end();
  std::vector<Request*> held;
  requests.for_each([&](Request& r) {
    if (r.held) held.push_back(&r);
  });
  std::sort(held.begin(), held.end(), [](const Request* a, const Request* b) { return a->id < b->id; });
  for (Request* r : held) post_held(*r, r->arguments.peer, r->arguments.tag);
}

void idle_wait() noexcept {
  if (Runtime* rt = runtime())
    guarded([rt] { rt->idle(); });
  else
    ::usleep(50);
}

void Runtime::idle() {
  // Inside a blocking MPI call nobody else reads the answers. A match may post its receive from here: we are
  // between two polls of MPI's progress loop, where MPICH's own schedules post theirs.
  if (!call_state.waits_itself) {
    const std::unique_lock held{lock, std::try_to_lock};
    if (held.owns_lock() && this_thread != nullptr && this_thread->late_word != nullptr)
      this_thread->late_word->say();
    // Where threads may call MPI beside each other it holds its own lock here, and must not be called.
    if (held.owns_lock() && multiple_ && waits_for_decisions())
      absorb_beside();
    else if (held.owns_lock())
      absorb();
  }
  wake_target();
  const std::uint32_t ticket = channel_->prepare_sleep();
  channel_->sleep(ticket, 100'000);
  channel_->awake();
  note_vain_look();
}

void Runtime::absorb_beside() {
  absorb_wanted_ = true;
  if (absorber_runs_) return;
  const auto run = [](void* runtime) -> void* {
    static_cast<Runtime*>(runtime)->absorb_for_others();
    return nullptr;
  };
  absorber_runs_ = start_own_thread(run, this);
}

/// Ends when nobody has wanted it for some 50 ms: a thread that stays would look like one of the program's.
void Runtime::absorb_for_others() {
  constexpr int kLooks = 500;
  const timespec between{0, 100'000};
  call_state.waits_itself = true;
  for (int looks = 0; looks < kLooks; ++looks) {
    {
      const std::lock_guard held{lock};
      if (std::exchange(absorb_wanted_, false)) looks = 0;
      guarded([this] { absorb(); });
    }
    // The system call itself: clock_nanosleep() is one of our wrappers.
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &between, nullptr);
  }
  absorber_runs_ = false;
}

/// Generalised requests complete when the program says so, maybe in a function that MPI polls.
void Runtime::note_vain_look() {
  if (expects_others_.load(std::memory_order_relaxed)) return;
  if (calls_counted(MpiCall::MPI_Grequest_start) + calls_counted(MpiCall::MPIX_Grequest_start) +
          calls_counted(MpiCall::MPIX_Grequest_class_allocate) >
      0)
    return expect_others();
  transport::RankBlock* block = channel_->block();
  if (block == nullptr) return tell_vain_looks();
  block->native_moves.store(native_moves(), std::memory_order_relaxed);
  block->native_polls.fetch_add(1, std::memory_order_release);
}

void Runtime::tell_vain_looks() {
  constexpr std::int64_t kBetweenNs = 500'000'000;
  const std::uint32_t looks = vain_looks_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::int64_t now = clock_ns(CLOCK_MONOTONIC);
  if (degraded() || now - looks_told_ns_.load(std::memory_order_relaxed) < kBetweenNs) return;
  std::unique_lock held{lock, std::defer_lock};
  if (!lock.is_held_here() && !held.try_lock()) return;
  looks_told_ns_.store(now, std::memory_order_relaxed);
  channel_->write(transport::shown_looks(looks, native_moves()), nullptr);
  channel_->ring();
}

std::uint64_t Runtime::publish_message(const Communicator& comm, RankId destination, std::int32_t tag,
                                       Bytes size, bool rendezvous, Time at) {
  const std::uint64_t sequence = sent_to_[destination.index()]++;
  if (!direct_ || degraded()) return sequence;
  transport::Stamp* stamp = stamps_out_->allocate();
  while (stamp == nullptr) {  // 64 million messages in flight: wait for receivers
    usleep(1000);
    stamp = stamps_out_->allocate();
  }
  stamp->comm = comm.key;
  stamp->at_ps = at.time_since_epoch().count();
  stamp->size = count(size);
  stamp->sequence = sequence;
  stamp->source = me_.value;
  stamp->tag = tag;
  stamp->rendezvous = rendezvous ? 1 : 0;
  stamps_out_->deliver(*stamp, destination.value);
  return sequence;
}

void Runtime::nudge(RankId source) {
  if (segment_ && source.value >= 0 && !native_) transport::ring_doorbell(segment_.rank(source.value));
}

void Runtime::nudge(const Communicator& comm) {
  if (!segment_) return;
  for (const std::int32_t member : comm.all) {
    transport::RankBlock& block = segment_.rank(member);
    if (member != me_.value && block.native_wait.load(std::memory_order_relaxed) == 0)
      transport::ring_doorbell(block);
  }
}

void Runtime::set_native_wait(ThreadState& thread, bool on) {
  transport::RankBlock* block = channel_->block();
  if (block != nullptr && std::exchange(thread.in_native_wait, on) != on)
    block->native_wait.fetch_add(on ? 1U : -1U, std::memory_order_relaxed);
}

void Runtime::take_cell(ThreadState& thread) {
  transport::RankBlock* block = several_threads_ ? channel_->block() : nullptr;
  if (block == nullptr) return;
  thread.cell = &block->threads[thread.id.index() % transport::kThreadCells];
  thread.cell->owner.store(0, std::memory_order_relaxed);  // nobody's, while it changes hands
  thread.cell->tid.store(static_cast<std::int32_t>(gettid()), std::memory_order_release);
  thread.cell->activity.store(0, std::memory_order_release);
  thread.cell->owner.store(thread.id.value + 1U, std::memory_order_release);
  call_state.show = show_thread;
}

void Runtime::show_thread(bool inside) {
  transport::ThreadCell* cell = this_thread == nullptr ? nullptr : this_thread->cell;
  if (cell == nullptr || cell->owner.load(std::memory_order_relaxed) != this_thread->id.value + 1U) return;
  const bool shown = cell->activity.load(std::memory_order_relaxed) % 2 != 0;
  if (shown != inside) cell->activity.fetch_add(1, std::memory_order_release);
}

void Runtime::set_inside(bool inside) {
  show_thread(inside);
  if (transport::RankBlock* block = channel_->block())
    block->activity.fetch_add(1, inside ? std::memory_order_relaxed : std::memory_order_release);
  else if (!inside && !degraded_)
    ring();  // over TCP nobody sees what is only written: others may wait for it while the application
             // computes
}

void Runtime::count_undecided(Communicator& comm, int change) {
  comm.undecided += static_cast<std::uint32_t>(change);
  undecided_ += static_cast<std::uint32_t>(change);
}

void Runtime::free_if_due(Communicator& comm) {
  if (comm.undecided == 0 && std::exchange(comm.free_later, false)) pmpi::Comm_free(&comm.handle);
}

bool Runtime::last_to_arrive(Communicator& comm) {
  const std::uint64_t call = comm.key + 0x9e3779b97f4a7c15u * comm.collectives++;
  if (!segment_ || native_) return true;
  auto& counter = segment_.header().arrivals[(call ^ (call >> 32)) % transport::kArrivalCounters];
  if (counter.fetch_add(1, std::memory_order_acq_rel) + 1 < comm.all.size()) return false;
  counter.store(0, std::memory_order_release);
  return true;
}

void Runtime::leave_in_background(MPI_Request native, PrivateCopy&& copy,
                                  std::vector<std::shared_ptr<void>> keep) {
  background_.push_back({native, std::move(copy), std::move(keep)});
}

void Runtime::progress_background(std::size_t at_most) {
  const QuietErrors errors;  // the program believes these complete
  for (std::size_t i = 0; i < at_most && !background_.empty(); ++i) {
    if (next_background_ >= background_.size()) next_background_ = 0;
    Background& b = background_[next_background_];
    int flag = 0;
    if (pmpi::Test(&b.native, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == 0) {
      ++next_background_;
    } else {
      std::swap(b, background_.back());
      background_.pop_back();
    }
  }
  if (background_.empty() && detached_sends() > 0) make_progress();
}

void Runtime::finish_background() {
  while (has_background()) {
    const std::size_t before = background_.size();
    progress_background(std::max(before, std::size_t{1}));
    if (background_.size() == before) idle_wait();
  }
}

void Runtime::begin_capture() {
  call_paths_ =
      std::make_unique<CallPaths>(settings_.frames, [this](CallSiteId id, const std::string& frames) {
        events::Event event;
        event.kind = events::EventKind::kSiteDefine;
        event.site = id;
        event.aux = frames.size();
        write_text(event, frames);
      });
  if (!settings_.record) return;
  capture_ =
      std::make_unique<Capture>(settings_, [this](DatatypeId id, const std::string& name, MPI_Count size) {
        events::Event event;
        event.kind = events::EventKind::kDatatypeDefine;
        event.aux = id.value;
        event.size = size;
        event.tag = static_cast<std::int32_t>(name.size());
        write_text(event, name);
      });
}

void Runtime::begin_accesses() {
  if (!settings_.accesses) return;
  if (const std::string why = access::begin(settings_.compute == ComputeMode::kMeasured); !why.empty()) {
    std::fprintf(stderr, "nplus1: rank %d: accesses are not recorded: %s\n", me_.value, why.c_str());
    settings_.accesses = false;
    return;
  }
  accesses_ = std::make_unique<Accesses>();
  static constexpr WrapperHooks kHooks{access::enter, access::leave};
  set_wrapper_hooks(&kHooks);
}

void Runtime::begin_twins() {
  if (!settings_.twins || accesses_ || native_) return;
  if (!twin::begin()) return;
  twins_ = std::make_unique<Twins>(*this);
  static constexpr WrapperHooks kHooks{[]() noexcept {},
                                       []() noexcept {
                                         if (active()) guarded([] { runtime()->twins()->leave(); });
                                       }};
  set_wrapper_hooks(&kHooks);
}

/// What is measured of a thread that leaves one call and enters the next at once.
void Runtime::calibrate_measuring() {
  constexpr int kTries = 64;
  ThreadState& mine = locked_thread();
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < kTries; ++i) {
    {
      const std::lock_guard guard{lock};
      mine.clock.start(kTimeZero);
    }
    least = std::min(least, ticks() - mine.clock.start_tick());
  }
  set_ticks_of_measuring(least);
}

void Runtime::write_text(events::Event event, const std::string& text) {
  std::vector<char> slots((text.size() / events::kSlotBytes + 1) * events::kSlotBytes, '\0');
  std::memcpy(slots.data(), text.data(), text.size());
  event.extension = static_cast<std::uint32_t>(slots.size() / events::kSlotBytes);
  write(event, slots.data());
}

std::uint64_t Runtime::region_id(const std::string& name, bool is_address) {
  const auto [place, is_new] = regions_.emplace(name, regions_.size() + 1);
  if (is_new) {
    events::Event event;
    event.kind = events::EventKind::kRegionDefine;
    event.operation = is_address ? 1 : 0;
    event.aux = place->second;
    event.size = static_cast<std::int64_t>(name.size());
    write_text(event, name);
  }
  return place->second;
}

Duration Runtime::table_length(MpiCall call, const void* return_address) {
  const std::string_view function = events::name(call);
  const std::string& place = call_paths_->place(return_address);
  for (const semantics::ComputeRule& rule : settings_.rules)
    if (rule.fits(function, place)) return rule.length;
  return Duration{-1};
}

void Runtime::start_clock(ThreadState& thread, Time now) const {
  const bool given = settings_.compute == ComputeMode::kRecorded && thread.recorded.follows();
  thread.clock.start(now, given ? thread.recorded.left(now) : Duration{-1});
}

void Runtime::tell_departures(transport::LastWords& words) const {
  for (const auto& thread : threads_) {
    const RecordedTimes& recorded = thread->recorded;
    if (!recorded.differs() || words.departed_threads++ > 0) continue;
    words.departed_thread = thread->id.value;
    words.followed = recorded.followed();
    words.found = recorded.found();
    words.expected = recorded.expected();
  }
}

void Runtime::define(const Communicator& comm) {
  events::Event event;
  event.kind = events::EventKind::kCommDefine;
  event.comm = comm.number;
  event.aux = comm.key;
  event.size = static_cast<std::int64_t>(comm.all.size());
  event.peer = comm.first_group;
  constexpr std::size_t kWords = events::kSlotBytes / sizeof(std::uint32_t);
  std::vector<std::int32_t> slots((comm.all.size() + kWords - 1) / kWords * kWords);
  std::copy(comm.all.begin(), comm.all.end(), slots.begin());
  event.extension = static_cast<std::uint32_t>(slots.size() / kWords);
  write(event, slots.data());
}

void Runtime::forget(const Communicator& comm) {
  events::Event event;
  event.kind = events::EventKind::kCommDefine;
  event.operation = 1;
  event.comm = comm.number;
  event.aux = comm.key;
  write(event, nullptr);
}

}  // namespace nplus1::stubs
