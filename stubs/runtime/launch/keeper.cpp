#include "stubs/runtime/launch/keeper.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "stubs/runtime/launch/beside.hpp"
#include "stubs/runtime/launch/keeper_pair.hpp"
#include "stubs/runtime/launch/keeper_simulator.hpp"
#include "stubs/runtime/launch/role.hpp"

namespace nplus1::stubs {
namespace {

struct Pmi {
  int descriptor;
  int rank;
  int size;
};

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

/// Rank n. The process that Hydra started ends at once and well, so that Hydra never kills it nor counts its
/// exit code; children in sessions of their own stay behind.
[[noreturn]] void become_keeper(const Pmi& pmi, const std::string& job) {
  const std::string program = find_simulator();
  if (program.empty())
    say("no simulator to execute (set NPLUS1_SIMNODE to nplus1-simnode): running without it");
  const bool begun = begin_keepers(pmi.descriptor, job, program, environment_number("MPI_LOCALNRANKS") == 1);
  if (!begun) say("cannot fork the keeper: the job will not get past MPI_Init (free some processes)");
  _exit(begun ? 0 : 1);
}

/// What the environment said when the process began: it is asked for after that has forgotten it.
constinit int connection = -1;
constinit bool one_host = true;

/// Whether another launcher has started this process, for which `nplus1 run` has left a word.
bool is_beside() {
  return std::getenv("NPLUS1_MEETING") != nullptr && job_name().empty() && !job_of_launcher().empty();
}

/// The world shrinks once per job: children and wrapped programs inherit a marked environment.
Role set_up() {
  const auto pmi = read_pmi();
  if (!pmi) return passive("not started by MPICH's mpirun (no PMI_FD): watching nothing");
  if (std::getenv("PMI_SPAWNED") != nullptr) return passive("spawned processes are not watched");
  const std::string job = job_name();
  if (job.empty()) return passive("the process manager is not Hydra: watching nothing");
  const char* mark = std::getenv("NPLUS1_SHRUNK");
  if (mark != nullptr && job == mark) return Role::kRank;
  if (mark != nullptr) return passive("a job started from within a job that is watched is not watched");
  if (pmi->size < 2) {
    say("mpirun -np 1 leaves no rank for the simulator: watching nothing (use -np n+1)");
    return Role::kPassive;
  }
  set_variable("NPLUS1_SHRUNK", job);
  set_variable("NPLUS1_WORLD", std::to_string(pmi->size));
  if (pmi->rank == pmi->size - 1) become_keeper(*pmi, job);
  set_variable("PMI_SIZE", std::to_string(pmi->size - 1));
  return Role::kRank;
}

}  // namespace

Role decide_role() {
  if (is_beside()) return decide_role_beside(job_of_launcher());
  connection = environment_number("PMI_FD").value_or(-1);
  const Role decided = set_up();
  one_host = environment_number("MPI_LOCALNRANKS") == environment_number("NPLUS1_WORLD");
  return decided;
}

bool on_one_host() noexcept {
  return one_host;
}

int process_manager() noexcept {
  return connection;
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
