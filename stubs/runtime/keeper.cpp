#include "stubs/runtime/keeper.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "stubs/runtime/keeper_pair.hpp"
#include "stubs/runtime/keeper_simulator.hpp"

namespace nplus1::stubs {
namespace {

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

/// A function of the C library, not the program's own of that name: bash brings a getenv and a setenv that forget what
/// is set before its main.
template <class Function>
Function* of_libc(const char* name) {
  void* const library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  void* found = library == nullptr ? nullptr : dlsym(library, name);
  return reinterpret_cast<Function*>(found != nullptr ? found : dlsym(RTLD_NEXT, name));
}

void set(const char* name, const std::string& value) {
  if (auto* const set_it = of_libc<int(const char*, const char*, int)>("setenv"))
    set_it(name, value.c_str(), 1);
}

void unset(const char* name) {
  if (auto* const unset_it = of_libc<int(const char*)>("unsetenv")) unset_it(name);
}

bool is_same_file(std::string_view a, std::string_view b) {
  struct stat of_a {
  }, of_b{};
  return a == b || (stat(std::string{a}.c_str(), &of_a) == 0 && stat(std::string{b}.c_str(), &of_b) == 0 &&
                    of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);
}

/// What LD_PRELOAD names besides this library.
std::string without_us(const char* preloaded) {
  Dl_info self;
  std::string others;
  if (preloaded == nullptr || dladdr(reinterpret_cast<const void*>(&role), &self) == 0) return others;
  const std::string_view all{preloaded}, own{self.dli_fname};
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find_first_of(": ", begin), all.size());
    const std::string_view one = all.substr(begin, end - begin);
    if (!one.empty() && !is_same_file(one, own)) others.append(others.empty() ? "" : ":").append(one);
    begin = end + 1;
  }
  return others;
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

Transport transport_asked_for() {
  const char* text = std::getenv("NPLUS1_TRANSPORT");
  const std::string_view asked{text == nullptr ? "auto" : text};
  return asked == "tcp" ? Transport::kTcp : asked == "shm" ? Transport::kSharedMemory : Transport::kAny;
}

/// Settings that are asked for after the environment has forgotten them.
constinit Transport wanted = Transport::kAny;
constinit bool output_is_named = false;
constinit bool wants_quiet = false;
constinit pid_t process = 0;
constinit int connection = -1;
constinit bool one_host = true;

void read_settings() {
  process = getpid();
  connection = environment_number("PMI_FD").value_or(-1);
  wanted = transport_asked_for();
  output_is_named = std::getenv("NPLUS1_OUTPUT") != nullptr;
  const char* quiet = std::getenv("NPLUS1_QUIET");
  wants_quiet = quiet != nullptr && *quiet != '0' && *quiet != '\0';
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
  if (mark != nullptr) return passive("a job started from within a job that is watched is not watched");
  if (pmi->size < 2) {
    say("mpirun -np 1 leaves no rank for the simulator: watching nothing (use -np n+1)");
    return Role::kPassive;
  }
  set("NPLUS1_SHRUNK", job);
  set("NPLUS1_WORLD", std::to_string(pmi->size));
  if (pmi->rank == pmi->size - 1) become_keeper(*pmi, job);
  set("PMI_SIZE", std::to_string(pmi->size - 1));
  return Role::kRank;
}

constinit Role decided = Role::kPassive;

__attribute__((constructor)) void set_up_process() {
  const int saved = errno;
  read_settings();
  decided = set_up();
  one_host = environment_number("MPI_LOCALNRANKS") == environment_number("NPLUS1_WORLD");
  errno = saved;
}

}  // namespace

Role role() noexcept {
  return decided;
}

Transport wanted_transport() noexcept {
  return wanted;
}

bool names_output_itself() noexcept {
  return output_is_named;
}

int own_process() noexcept {
  return process;
}

bool on_one_host() noexcept {
  return one_host;
}

int process_manager() noexcept {
  return connection;
}

bool quiet() noexcept {
  return wants_quiet;
}

void forget_job_environment() {
  const std::string preloaded = without_us(std::getenv("LD_PRELOAD"));
  if (preloaded.empty())
    unset("LD_PRELOAD");
  else
    set("LD_PRELOAD", preloaded);
  std::vector<std::string> names;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text{*variable};
    if (text.substr(0, 7) == "NPLUS1_") names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) unset(name.c_str());
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
