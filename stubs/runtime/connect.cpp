// How a rank joins the simulation at the end of MPI_Init: it finds the simulator, and all ranks agree on what
// they use. Where one of them cannot join, none does, and the job runs as plain MPI.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "netmodel/specification.hpp"
#include "semantics/processor_counters.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/arguments/arguments.hpp"
#include "stubs/runtime/communicators/session_world.hpp"
#include "stubs/runtime/hooks/progress_hook.hpp"
#include "stubs/runtime/launch/launcher.hpp"
#include "stubs/runtime/launch/role.hpp"
#include "stubs/runtime/runtime.hpp"
#include "stubs/runtime/send_hook.hpp"
#include "stubs/runtime/twins.hpp"
#include "stubs/transport/meeting.hpp"

namespace nplus1::stubs {
namespace {

using transport::Hello;
using transport::Start;
using transport::Welcome;

/// What all ranks together may run on, of one host; collective. A launcher may have bound each rank to a core of its own. Of several
/// hosts, which number their processors alike, no more than the smallest has.
int cores_of_all() {
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) CPU_SET(0, &mine);
  CPU_ZERO(&all);
  pmpi::Allreduce(&mine, &all, static_cast<int>(sizeof mine), MPI_BYTE, MPI_BOR, world());
  int smallest_host = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  pmpi::Allreduce(MPI_IN_PLACE, &smallest_host, 1, MPI_INT, MPI_MIN, world());
  return std::clamp(CPU_COUNT(&all), 1, smallest_host);
}

/// With a rendezvous the simulator may have to let a send go that only the model blocks; then the time stamp
/// that the receiver got is wrong.
bool all_eager(const netmodel::NetworkModel& network) {
  return network.eager(bytes(static_cast<std::int64_t>(netmodel::kUnlimitedBytes)));
}

struct Opened {
  int socket = -1;
  int wake = -1;
  Welcome welcome;
  std::string texts[transport::kTexts];
  std::vector<semantics::ComputeRule> rules;
  std::vector<events::recording::ComputeInterval> recorded;
  transport::Segment segment;
  std::string trouble;  // why there is no line although there is a simulator
};

/// The texts that were announced; false if they don't come.
bool receive_texts(Opened& line, transport::Deadline until) {
  for (std::size_t i = 0; i < transport::kTexts; ++i) {
    const std::uint64_t size = line.welcome.text_bytes[i];
    if (size > transport::kLongestText) return false;
    line.texts[i].resize(size);
    if (!transport::receive_all(line.socket, line.texts[i].data(), size, until)) return false;
  }
  return true;
}

/// Of the simulated collectives' algorithms, as the simulator has parsed it already.
netmodel::Selection selection_of(const Opened& line) {
  const std::string& words = line.texts[transport::kCollectives];
  return words.empty() ? netmodel::Selection{} : netmodel::Selection::parse(words).value();
}

/// The simulator may be reading a large platform for the rank that came first.
constexpr std::chrono::seconds kPatience{60};

/// Nobody but this user's own simulator, who knows the job's key, is told anything or believed.
std::optional<std::string> greet(Opened& line, const Hello& hello, const transport::Key& key) {
  const transport::Deadline until = std::chrono::steady_clock::now() + kPatience;
  if (auto trouble = transport::prove_as_rank(line.socket, key, hello, until)) return trouble;
  if (!transport::receive_all(line.socket, &line.welcome, sizeof(line.welcome), until) ||
      line.welcome.version != transport::kProtocolVersion || !receive_texts(line, until))
    return "the simulator has refused it";
  auto rules = semantics::unpacked(line.texts[transport::kComputeRules]);
  if (!rules) return "its compute table came spoilt: " + rules.error().what;
  line.rules = std::move(rules).value();
  const std::string& recorded = line.texts[transport::kRecordedTimes];
  if (recorded.size() % sizeof(events::recording::ComputeInterval) != 0)
    return "the compute times of the recording came cut";
  line.recorded.resize(recorded.size() / sizeof(events::recording::ComputeInterval));
  if (!recorded.empty()) std::memcpy(line.recorded.data(), recorded.data(), recorded.size());
  if (line.welcome.has_segment == 0) return std::nullopt;
  int memory = -1;
  if (!transport::receive_descriptors(line.socket, memory, line.wake, until))
    return "the memory to share did not come";
  if (transport::is_segment(memory, hello.ranks)) line.segment = transport::map_segment(memory, hello.ranks);
  const std::string why = std::strerror(errno);
  close(memory);
  if (!line.segment) return "the memory to share is not what it should be, or cannot be mapped: " + why;
  return std::nullopt;
}

int connect_locally(const transport::Meeting& meeting, Opened& line) {
  const int socket = transport::connect_unix(meeting.name);
  if (socket < 0) return -1;
  const transport::Peer peer = transport::peer_of(socket);
  if (peer.user == geteuid()) return socket;
  line.trouble = "user " + std::to_string(peer.user) + " listens in the simulator's place";
  close(socket);
  return -1;
}

Opened open_line(const Hello& hello, bool by_session) {
  Opened line;
  const auto meeting = published_meeting(hello.ranks, by_session);
  if (!meeting) return line;
  line.trouble = "nobody listens where the simulator should be";
  const Transport wanted = wanted_transport();
  if (wanted != Transport::kTcp) line.socket = connect_locally(*meeting, line);
  if (line.socket < 0 && wanted != Transport::kSharedMemory && !meeting->address.empty())
    line.socket = transport::connect_tcp(meeting->address, std::chrono::steady_clock::now() + kPatience);
  if (line.socket < 0) return line;
  const auto trouble = greet(line, hello, meeting->key);
  line.trouble = trouble.value_or("");
  if (trouble) close(std::exchange(line.socket, -1));
  return line;
}

/// Said by one rank for all.
void say_why_not(const Hello& me, const Opened& line, int first) {
  if (me.rank != first || line.trouble.empty()) return;
  std::fprintf(stderr,
               "nplus1: rank %d cannot join the simulation: %s\n"
               "  so:   the program runs as if without nplus1\n"
               "  next: nplus1 doctor\n",
               me.rank, line.trouble.c_str());
}

/// Where only the simulator knows when a message has come, and nothing of what the rank does depends on when that is. Other
/// threads' clocks, recorded intervals, twins and accesses are placed by the thread's own.
bool clocks_may_be_late(const transport::Config& config, const netmodel::NetworkModel& network,
                        int threads_provided) {
  const Settings settings = make_settings(config, {}, 1, 1);
  const bool placed = settings.riesen || settings.virtual_clocks || settings.accesses || settings.twins ||
                      settings.compute == ComputeMode::kRecorded;
  return config.direct != 0 && config.native == 0 && !network.contention_free() && !placed &&
         threads_provided < MPI_THREAD_SERIALIZED;
}

/// MPI has begun by a session, in a job whose ranks may meet there.
bool opens_by_session(Hello& hello) {
  return find_place_by_session(hello.rank, hello.ranks) && make_world_of_sessions();
}

}  // namespace

/// Time begins for all at the moment at which the last has come this far.
void Runtime::begin_native() {
  std::int64_t now = clock_ns(CLOCK_REALTIME);
  pmpi::Allreduce(MPI_IN_PLACE, &now, 1, MPI_INT64_T, MPI_MAX, world());
  native_zero_ = now;
  [[maybe_unused]] const std::int64_t first_reading = threads.mine().wall.at(ticks());
}

std::unique_ptr<Runtime> Runtime::connect(int threads_provided, int native_threads, Beginning beginning) {
  Hello hello;
  const bool by_session = beginning == Beginning::kSession;
  if (by_session && !opens_by_session(hello)) return nullptr;
  pmpi::Comm_rank(world(), &hello.rank);
  pmpi::Comm_size(world(), &hello.ranks);
  hello.pid = getpid();
  Opened line = open_line(hello, by_session);
  if (hello.rank == 0) note_beginning();
  const int cores = cores_of_all();

  const bool joined = line.socket >= 0;
  const bool one_at_a_time = threads_provided < MPI_THREAD_MULTIPLE;
  int mine[4] = {joined ? 1 : 0, line.segment ? 1 : 0, joined ? hello.ranks : hello.rank,
                 one_at_a_time ? 1 : 0};
  int all[4] = {};
  pmpi::Allreduce(mine, all, 4, MPI_INT, MPI_MIN, world());
  const auto network = netmodel::parse(line.texts[transport::kNetwork]);
  Start start;
  start.active = static_cast<std::uint32_t>(all[0] != 0 && network.ok());
  start.direct = static_cast<std::uint32_t>(
      all[1] != 0 && line.welcome.config.native == 0 && line.welcome.config.direct != 0 && network.ok() &&
      network.value()->contention_free() && all_eager(*network.value()));
  start.late_clocks = static_cast<std::uint32_t>(
      network.ok() && clocks_may_be_late(line.welcome.config, *network.value(), threads_provided));
  start.shared_memory = line.segment ? 1 : 0;  // each rank as it can: they may be on several hosts
  start.threads_provided = threads_provided;
  start.native_threads = native_threads;
  start.cores = cores;
  if (line.welcome.config.clock == transport::ClockChoice::kInstructions)
    start.counts = semantics::open_processor_counter().ok() ? 1 : 0;
  if (line.socket >= 0 && !transport::send_all(line.socket, &start, sizeof(start))) start.active = 0;
  if (start.active == 0) {
    say_why_not(hello, line, all[2]);
    if (line.socket >= 0) close(line.socket);
    free_world_of_sessions();
    return nullptr;
  }

  std::unique_ptr<Runtime> rt{new Runtime};
  rt->me_ = RankId{hello.rank};
  rt->ranks_ = hello.ranks;
  rt->settings_ = make_settings(line.welcome.config, std::move(line.rules), hello.ranks, cores);
  rt->settings_.recorded = std::move(line.recorded);
  rt->network_ = std::move(netmodel::parse(line.texts[transport::kNetwork])).value();
  rt->settings_.record_region = line.texts[transport::kRecordRegion];
  if (start.direct != 0 && all[3] != 0)
    rt->collective_ends.begin(*rt->network_, selection_of(line), rt->me_, line.segment);
  rt->output_ = line.texts[transport::kOutput];
  rt->native_ = line.welcome.config.native != 0;
  rt->settings_.late_clocks = start.late_clocks != 0;
  rt->line.open(line.segment
                    ? transport::make_shared_memory_channel(line.segment, hello.rank, line.socket, line.wake)
                    : transport::make_tcp_channel(line.socket),
                line.segment, rt->me_, rt->native_);
  if (line.segment) line.segment.rank(hello.rank).pid = hello.pid;
  rt->messages.begin(*rt->network_, rt->me_, hello.ranks, line.segment, start.direct != 0);
  if (!rt->native_) introduce_ranks(hello.rank, hello.ranks, all[1] != 0);
  if (rt->native_ && hello.ranks <= cores) wait_as_mpi_does();
  rt->cores_ = cores;
  calibrate_ticks();
  begin_checks();
  rt->instruments.begin_capture();
  rt->background.begin();
  int* largest = nullptr;
  int known = 0;
  if (pmpi::Comm_get_attr(world(), MPI_TAG_UB, &largest, &known) == MPI_SUCCESS && known != 0)
    rt->largest_tag_ = *largest;
  rt->multiple_ = threads_provided == MPI_THREAD_MULTIPLE;
  rt->threads.may_be_several(threads_provided >= MPI_THREAD_SERIALIZED);
  rt->threads.mine();
  rt->line.define(rt->communicators.add(world(), Origin{0}, 0));
  rt->line.define(rt->communicators.add(world_of_one(), Origin{0}, 0));
  rt->partitions.open(world());
  pmpi::Barrier(world());  // virtual time begins when everybody can be reached
  if (rt->native_) rt->begin_native();
  if (rt->settings_.virtual_clocks) rt->clocks.begin();
  rt->system_io.begin(rt->own_io());
  rt->instruments.begin_accesses(rt->me_);
  rt->native_threads_ = native_threads;
  rt->instruments.begin_twins(*rt);
  rt->calibrate_measuring();
  rt->threads.start_clock(rt->threads.mine(), kTimeZero);
  return rt;
}

}  // namespace nplus1::stubs
