#include "stubs/runtime/keeper.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "stubs/runtime/keeper_pmi.hpp"
#include "stubs/runtime/keeper_simulator.hpp"

namespace nplus1::stubs {
namespace {

constexpr std::chrono::seconds kReadyLimit{10};
constexpr std::chrono::seconds kReportLimit{60};

struct Pmi {
  int descriptor;
  int rank;
  int size;
};

std::optional<int> environment_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto parsed = std::from_chars(text, end, value);
  return parsed.ec == std::errc{} && parsed.ptr == end ? std::optional{value} : std::nullopt;
}

std::optional<Pmi> read_pmi() {
  const auto descriptor = environment_number("PMI_FD");
  const auto rank = environment_number("PMI_RANK");
  const auto size = environment_number("PMI_SIZE");
  if (!descriptor || !rank || !size) return std::nullopt;
  if (*descriptor <= STDERR_FILENO || *rank < 0 || *rank >= *size) return std::nullopt;
  return Pmi{*descriptor, *rank, *size};
}

/// The content of /proc/PID/FILE; empty if it cannot be read.
std::string process_file(pid_t process, const char* file) {
  const std::string path = "/proc/" + std::to_string(process) + "/" + file;
  std::string text(1024, '\0');
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return "";
  const ssize_t got = read(descriptor, text.data(), text.size());
  close(descriptor);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

/// Field 22 of /proc/PID/stat. The second field, in parentheses, may contain anything.
std::string start_time(pid_t process) {
  const std::string stat = process_file(process, "stat");
  std::size_t at = stat.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  return at == std::string::npos ? "" : stat.substr(at + 1, stat.find(' ', at + 1) - at - 1);
}

void say(const char* text) {
  std::fprintf(stderr, "nplus1: %s\n", text);
}

/// Said when asked for, and by one rank only, whatever launcher numbers them.
Role passive(const char* why) {
  const bool first = [] {
    for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}) {
      if (environment_number(name).value_or(0) != 0) return false;
    }
    return true;
  }();
  if (first && std::getenv("NPLUS1_VERBOSE") != nullptr) say(why);
  return Role::kPassive;
}

/// Leaves nothing open but the connection to Hydra: holding the others would keep mpirun waiting.
void release_descriptors(int kept) {
  const int null = open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, standard);
  const auto first = static_cast<unsigned>(STDERR_FILENO + 1);
  const auto fd = static_cast<unsigned>(kept);
  if (fd > first) close_range(first, fd - 1, 0);
  close_range(fd + 1, ~0U, 0);
  fcntl(kept, F_SETFD, FD_CLOEXEC);
}

[[noreturn]] void keep(const Pmi& pmi, const std::string& job, const std::string& program) {
  setsid();
  std::signal(SIGPIPE, SIG_IGN);
  release_descriptors(pmi.descriptor);
  auto simulator = program.empty() ? std::nullopt : Simulator::start(program, job, kReadyLimit);
  answer_barriers(pmi.descriptor, simulator ? simulator->address() : "");
  close(pmi.descriptor);
  if (simulator) simulator->finish(kReportLimit);
  _exit(0);
}

/// Rank n. The process that Hydra started ends at once and well, so that Hydra never kills it nor counts its
/// exit code; a child in a session of its own stays behind.
[[noreturn]] void become_keeper(const Pmi& pmi, const std::string& job) {
  const std::string program = find_simulator();
  if (program.empty())
    say("no simulator to execute (set NPLUS1_SIMNODE to nplus1-simnode): running without it");
  const pid_t child = fork();
  if (child < 0) say("cannot fork the keeper: the job will not get past MPI_Init (free some processes)");
  if (child == 0) keep(pmi, job, program);
  _exit(child < 0 ? 1 : 0);
}

/// The world shrinks once per job: children and wrapped programs inherit a marked environment.
Role set_up() {
  const char* native = std::getenv("NPLUS1_NATIVE");
  if (native != nullptr && std::strcmp(native, "1") == 0) return Role::kNative;
  const auto pmi = read_pmi();
  if (!pmi) return passive("not started by MPICH's mpirun (no PMI_FD): watching nothing");
  if (std::getenv("PMI_SPAWNED") != nullptr) return passive("spawned processes are not watched");
  const std::string job = job_name();
  if (job.empty()) return passive("the process manager is not Hydra: watching nothing");
  const char* mark = std::getenv("NPLUS1_SHRUNK");
  if (mark != nullptr && job == mark) return Role::kRank;
  if (pmi->size < 2) {
    say("mpirun -np 1 leaves no rank for the simulator: watching nothing (use -np n+1)");
    return Role::kPassive;
  }
  setenv("NPLUS1_SHRUNK", job.c_str(), 1);
  setenv("NPLUS1_WORLD", std::to_string(pmi->size).c_str(), 1);
  if (pmi->rank == pmi->size - 1) become_keeper(*pmi, job);
  setenv("PMI_SIZE", std::to_string(pmi->size - 1).c_str(), 1);
  return Role::kRank;
}

constinit Role decided = Role::kPassive;

__attribute__((constructor)) void set_up_process() {
  const int saved = errno;
  decided = set_up();
  errno = saved;
}

}  // namespace

Role role() noexcept {
  return decided;
}

std::string job_name() {
  const auto descriptor = environment_number("PMI_FD");
  ucred peer{};
  socklen_t length = sizeof peer;
  if (!descriptor || getsockopt(*descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return "";
  // After MPI_Finalize the number may belong to another socket; and Slurm's PMI_FD speaks another language.
  if (process_file(peer.pid, "comm") != "hydra_pmi_proxy\n") return "";
  const std::string started = start_time(peer.pid);
  return started.empty() ? "" : "nplus1-" + std::to_string(peer.pid) + "-" + started;
}

}  // namespace nplus1::stubs
