// MPI_Init, MPI_Finalize, MPI_Abort and the clock (MPI 4.0, chapter 11; section 9.6), and the scope of calls
// that are not modelled.
#include <dirent.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "stubs/access/watch.hpp"
#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/arguments/arguments.hpp"
#include "stubs/runtime/communicators/session_world.hpp"
#include "stubs/runtime/environment.hpp"
#include "stubs/runtime/launch/role.hpp"
#include "stubs/runtime/runtime.hpp"
#include "stubs/runtime/send_hook.hpp"
#include "stubs/runtime/teams.hpp"
#include "stubs/runtime/twins.hpp"
#include "stubs/table/unmodelled.hpp"

namespace nplus1::stubs {

int count_threads() {
  int n = 0;
  if (DIR* tasks = opendir("/proc/self/task")) {
    while (const dirent* entry = readdir(tasks)) n += entry->d_name[0] != '.';
    closedir(tasks);
  }
  return n;
}

namespace {

int threads_of_mpi = 0;  // that the MPI library started itself

std::int64_t cpu_ns(clockid_t clock) {
  timespec t{};
  return clock_gettime(clock, &t) == 0 ? t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec : 0;
}

/// Threads that never call MPI and have used a tenth of the process's CPU time or more; 0 where several threads call MPI: whose
/// time is whose is not known then. Members of OpenMP's teams whose waiting is not charged are none of them.
std::int32_t working_threads(const Runtime& rt) {
  const std::int64_t all = cpu_ns(CLOCK_PROCESS_CPUTIME_ID), own = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
  if (rt.threads.count() > 1 || 10 * (all - own) < all) return 0;
  return std::max(0, count_threads() - threads_of_mpi - 1 - members_of_teams());
}

/// `nplus1 run` names the folder itself; under plain mpirun somebody has to.
void say_where_results_go(const Runtime& rt) {
  if (rt.me().value != 0 || rt.output().empty() || names_output_itself()) return;
  if (!quiet()) std::fprintf(stderr, "nplus1: the results will be in %s\n", rt.output().c_str());
}

std::atomic<int> sessions{0};

void connect(int threads_before, Beginning beginning) {
  int provided = MPI_THREAD_SINGLE;
  pmpi::Query_thread(&provided);
  threads_of_mpi = count_threads() - threads_before;
  // Lives until the process ends: its socket is the sign of life.
  Runtime* made = Runtime::connect(provided, threads_of_mpi, beginning).release();
  detail::own_state->runtime.store(made, std::memory_order_release);
  if (made != nullptr) say_where_results_go(*made);
  set_active(made != nullptr);
}

/// From this call on a rank may wait inside MPI for what no rank does: other programs, and files that are read or
/// written in the background.
bool may_involve_others(MpiCall call) {
  const std::string_view name = events::name(call);
  return name.starts_with("MPI_Comm_spawn") || name == "MPI_Comm_accept" || name == "MPI_Comm_connect" ||
         name == "MPI_Comm_join" || name.starts_with("MPI_File_i") ||
         (name.starts_with("MPI_File_") && name.find("_begin") != std::string_view::npos);
}

void emit_bare(events::EventKind kind) {
  Call call{kind != events::EventKind::kUnmodelledExit};
  events::Event event;
  event.kind = kind;
  call.emit(event);
  call.rt.line.ring();
}

}  // namespace

void join(int threads_before, Beginning beginning) {
  if (role() == Role::kRank && runtime() == nullptr) connect(threads_before, beginning);
}

int count_sessions(int change) noexcept {
  return sessions.fetch_add(change) + change;
}

Runtime* runtime() noexcept {
  return detail::own_state->runtime.load(std::memory_order_acquire);
}

UnmodelledScope::UnmodelledScope(events::MpiCall call) noexcept : call_{call} {
  if (may_involve_others(call)) runtime()->vain_looks.expect_others();
  guarded([] { emit_bare(events::EventKind::kUnmodelledEnter); });
}
UnmodelledScope::~UnmodelledScope() {
  forget_target();
  guarded([] { emit_bare(events::EventKind::kUnmodelledExit); });
}

void end_observation() {
  {
    Call call;
    events::Event event;
    event.kind = events::EventKind::kFinalize;
    if (const Capture* capture = call.rt.capture())
      event.aux = static_cast<std::uint64_t>(capture->hashing_ns());
    event.size = call.rt.clocks.reads_of_others();
    event.tag = working_threads(call.rt);
    transport::LastWords words;
    Accesses* const accesses = call.rt.accesses();
    if (accesses != nullptr) accesses->sum_up(words);
    if (call.rt.settings().compute == ComputeMode::kRecorded) {
      call.thread.recorded.expect(static_cast<std::uint16_t>(current_call()));
      call.rt.threads.tell_departures(words);
    }
    SystemIo::Numbers io;
    if (call.rt.system_io.read(io, call.rt.own_io())) {
      words.counted_io = 1;
      words.bytes_read = io[SystemIo::kBytesRead];
      words.bytes_written = io[SystemIo::kBytesWritten];
      words.reads = io[SystemIo::kReads];
      words.writes = io[SystemIo::kWrites];
    }
    event.extension = sizeof(words) / events::kSlotBytes;
    call.emit(event, &words);
    if (accesses != nullptr) access::end();
    call.rt.line.ring();
    call.rt.background.end();
    call.rt.partitions.close();
    call.rt.own_types.clear();
    end_checks();
  }
  set_active(false);
}

namespace handlers {

int Init(int* argc, char*** argv) {
  const int threads = count_threads();
  forget_job_environment();
  const int code = pmpi::Init(argc, argv);
  if (code == MPI_SUCCESS) guarded([=] { join(threads, Beginning::kWorld); });
  return code;
}

int Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int threads = count_threads();
  forget_job_environment();
  const int code = pmpi::Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) guarded([=] { join(threads, Beginning::kWorld); });
  return code;
}

int Finalize() {
  if (world_is_of_sessions()) {  // of a library that was loaded later: the job began with sessions, and ends with them
    const UnmodelledScope scope{current_call()};
    return pmpi::Finalize();
  }
  end_observation();
  return pmpi::Finalize();
}

int Abort(MPI_Comm comm, int code) {
  runtime()->line.ring();
  return pmpi::Abort(comm, code);
}

double Wtime() {
  if (runtime()->native()) return pmpi::Wtime();
  runtime()->clocks.note_read(true);
  ThreadState* known = ThreadStates::mine_if_known();
  if (known != nullptr && known->events_adrift > 0 && !known->in_call) const Call asks{false};
  if (known != nullptr &&
      known->in_call) {  // a callback: the thread's clock stands still, the callback costs nothing
    known->inside += known->clock.cost_of_reading();
    return seconds(known->inside);
  }
  ThreadClock& clock = runtime()->threads.locked_mine().clock;
  return seconds(Twins::is_one_here() ? clock.read_in_twin() : clock.read());
}

}  // namespace handlers
}  // namespace nplus1::stubs
