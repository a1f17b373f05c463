#include "stubs/runtime/launch/keeper_pair.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "stubs/runtime/launch/keeper_pmi.hpp"
#include "stubs/runtime/launch/keeper_simulator.hpp"

namespace nplus1::stubs {
namespace {

constexpr std::chrono::seconds kReadyLimit{10};
constexpr std::chrono::seconds kReportLimit{60};

/// What both keepers know.
struct Shared {
  Duty duty;
  std::atomic<std::uint32_t> word_size{0};  // of `word`, once it is there
  char word[512] = {};                      // what the ranks are told
};

/// Each holds the end of a pipe for as long as it lives, whose other end the other watches.
struct Pair {
  Pipe leader;
  Pipe other;
};

std::optional<Pair> make_pair() {
  const auto leader = open_pipe();
  const auto other = open_pipe();
  if (!leader || !other) return std::nullopt;
  return Pair{*leader, *other};
}

/// The standard streams go nowhere: holding them would keep mpirun waiting. Not every host lets everybody write to /dev/null.
void release_streams() {
  int null = open("/dev/null", O_RDWR);
  if (null < 0) null = memfd_create("nothing", 0);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, standard);
  if (null > STDERR_FILENO) close(null);
}

/// Only `kept` and the standard streams stay open.
void keep_descriptors(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  auto first = static_cast<unsigned>(STDERR_FILENO + 1);
  for (const int fd : kept) {
    if (fd < static_cast<int>(first)) continue;
    if (static_cast<unsigned>(fd) > first) close_range(first, static_cast<unsigned>(fd) - 1, 0);
    first = static_cast<unsigned>(fd) + 1;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  close_range(first, ~0U, 0);
}

bool hung_up(int descriptor) {
  pollfd p{descriptor, 0, 0};
  return poll(&p, 1, 0) > 0;
}

class Keeper {
 public:
  Keeper(int pmi, Shared& shared, Simulator simulator, bool alone)
      : pmi_{pmi}, shared_{shared}, simulator_{simulator}, alone_{alone} {}

  /// A process of its own, in a session that Hydra does not kill.
  void settle(const Pair& pair, bool leads) {
    other_ = leads ? pair.other.read_end : pair.leader.read_end;
    const int own = leads ? pair.leader.write_end : pair.other.write_end;
    setsid();
    prctl(PR_SET_NAME, "nplus1-keeper");
    std::signal(SIGPIPE, SIG_IGN);
    std::vector<int> kept = simulator_.descriptors();
    kept.insert(kept.end(), {pmi_, other_, own});
    if (!alone_) release_streams();
    keep_descriptors(std::move(kept));
  }

  [[noreturn]] void lead() {
    answer_barriers(
        pmi_, word(), shared_.duty, other_, [this] { return replace_other(); }, alone_);
    close(pmi_);
    _exit(simulator_.finish(kReportLimit));  // for who waits for the job
  }

  [[noreturn]] void stand_by() {
    simulator_.leave_to_others();
    for (;;) {
      pollfd watched[2] = {{pmi_, 0, 0}, {other_, 0, 0}};
      poll(watched, 2, -1);
      if (watched[0].revents != 0 || (watched[1].revents != 0 && hung_up(pmi_))) _exit(0);
      if (watched[1].revents == 0) continue;
      other_ = replace_other();
      lead();
    }
  }

  void start_simulator(const std::string& program, const std::string& job) {
    if (!program.empty()) simulator_.start(program, job);
    simulator_.leave_to_others();
  }

 private:
  std::string word() {
    if (shared_.word_size == 0) {
      const std::string word = simulator_.await_word(kReadyLimit).value_or("");
      if (word.size() < sizeof(shared_.word)) {
        std::memcpy(shared_.word, word.data(), word.size());
        shared_.word_size = static_cast<std::uint32_t>(word.size());
      }
    }
    return {shared_.word, shared_.word_size};
  }

  /// What to watch from now on; -1 if there is nobody.
  int replace_other() {
    close(std::exchange(other_, -1));
    const auto pair = make_pair();
    const pid_t child = pair ? fork() : -1;
    if (child == 0) {
      settle(*pair, false);
      stand_by();
    }
    if (pair) {
      close(pair->leader.read_end);
      close(pair->other.write_end);
    }
    return other_ = pair ? pair->other.read_end : -1;
  }

  int pmi_;
  Shared& shared_;
  Simulator simulator_;
  bool alone_;
  int other_ = -1;
};

}  // namespace

bool begin_keepers(int pmi_descriptor, const std::string& job, const std::string& program, bool alone) {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto simulator = Simulator::prepare();
  const auto pair = make_pair();
  if (memory == MAP_FAILED || !simulator || !pair) return false;
  Keeper keeper{pmi_descriptor, *new (memory) Shared, *simulator, alone};
  const pid_t leader = fork();
  if (leader < 0) return false;
  if (leader == 0) {
    keeper.settle(*pair, true);
    keeper.start_simulator(program, job);
    keeper.lead();
  }
  if (fork() == 0) {
    keeper.settle(*pair, false);
    keeper.stand_by();
  }
  return true;
}

}  // namespace nplus1::stubs
