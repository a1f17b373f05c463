#include "stubs/runtime/absorber.hpp"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <mutex>
#include <utility>

#include "stubs/guard/guard.hpp"
#include "stubs/runtime/runtime.hpp"
#include "stubs/runtime/threads.hpp"

namespace nplus1::stubs {

Absorber::~Absorber() {
  while (runs_) ::usleep(1000);
}

void Absorber::want() {
  wanted_ = true;
  if (runs_) return;
  const auto run = [](void* absorber) -> void* {
    static_cast<Absorber*>(absorber)->run();
    return nullptr;
  };
  runs_ = start_own_thread(run, this);
}

/// Ends when nobody has wanted it for some 50 ms.
void Absorber::run() {
  constexpr int kLooks = 500;
  const timespec between{0, 100'000};
  call_state.waits_itself = true;
  for (int looks = 0; looks < kLooks; ++looks) {
    {
      const std::lock_guard held{runtime_.lock};
      if (std::exchange(wanted_, false)) looks = 0;
      guarded([this] {
        runtime_.absorb();
        runtime_.look_for_simulator();
      });
    }
    // The system call itself: clock_nanosleep() is one of our wrappers.
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &between, nullptr);
  }
  runs_ = false;
}

}  // namespace nplus1::stubs
