#include "hypothesis/reenact/mpi/watchdog.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "events/mpi_call.hpp"

namespace nplus1::hypothesis::reenact {

using std::chrono::steady_clock;

Watchdog::Watchdog(int rank, std::chrono::duration<double> patience, bool deterministic, std::string note)
    : rank_{rank},
      patience_{patience},
      deterministic_{deterministic},
      note_{std::move(note)},
      thread_{[this] { watch(); }} {}

Watchdog::~Watchdog() {
  ended_.store(true);
  thread_.join();
}

void Watchdog::watch() {
  constexpr std::chrono::milliseconds kLook{50};
  std::uint64_t seen = 0;
  auto since = steady_clock::now();
  while (!ended_.load()) {
    std::this_thread::sleep_for(kLook);
    const std::uint64_t turn = turn_.load(std::memory_order_acquire);
    if (turn != seen) {
      seen = turn;
      since = steady_clock::now();
    } else if (steady_clock::now() - since > patience_) {
      bark();
    }
  }
}

void Watchdog::bark() {
  // Others are stuck with us: one of them may have said so already.
  const int note = note_.empty() ? STDERR_FILENO : open(note_.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (note >= 0) {
    const auto call = static_cast<events::MpiCall>(call_.load());
    fmt::print(
        stderr,
        "nplus1: the re-enactment is stuck: rank {} is in {} (peer {}, tag {}) for more than {:.0f} s\n"
        "  so:   it was ended; there is no result\n"
        "  next: {}\n",
        rank_, events::name(call), peer_.load(), tag_.load(), patience_.count(),
        deterministic_ ? "a longer --patience, if somebody computes for so long"
                       : "--deterministic keeps the recorded order of what completes, and cannot get lost");
  }
  _exit(kStuck);
}

}  // namespace nplus1::hypothesis::reenact
