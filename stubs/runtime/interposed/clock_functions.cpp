// The operating system's clocks and sleeps, interposed. Sleeping advances the virtual clock by what was asked
// for; with --virtual-clocks the time of day is the virtual one. Only on threads that call MPI, and only
// outside MPI.
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "stubs/guard/guard.hpp"
#include "stubs/runtime/runtime.hpp"

#define NPLUS1_EXPORT extern "C" __attribute__((visibility("default")))

namespace nplus1::stubs {
namespace {

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// The calling thread's clock if it is in the application's code; null inside MPI and on foreign threads.
ThreadClock* application_clock() {
  if (!active() || call_state.depth != 0) return nullptr;
  ThreadState* thread = ThreadStates::mine_if_known();
  return thread == nullptr ? nullptr : &thread->clock;
}

ThreadClock* virtual_clock() {
  ThreadClock* clock = application_clock();
  if (clock == nullptr) return nullptr;
  if (runtime()->settings().virtual_clocks) return clock;
  runtime()->clocks.note_read(false);
  return nullptr;
}

void add_sleep(double slept) {
  if (ThreadClock* clock = application_clock()) clock->add(from_seconds(slept));
}

double seconds_of(const timespec& t) {
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The program means a point of virtual time, which the system's clock may have passed long ago, or reach in an hour:
/// it sleeps as long as it lies ahead, as with a relative sleep.
template <class Sleep>
int sleep_until_virtual(ThreadClock& clock, clockid_t id, const timespec& now, const timespec& wanted,
                        Sleep* next) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (wanted.tv_sec < 0 || wanted.tv_nsec < 0 || wanted.tv_nsec >= kSecond) return EINVAL;
  timespec ahead{wanted.tv_sec - now.tv_sec,
                 wanted.tv_nsec - now.tv_nsec};  // as such: in ns there is no "for ever"
  if (ahead.tv_nsec < 0) ahead = {ahead.tv_sec - 1, ahead.tv_nsec + kSecond};
  if (ahead.tv_sec < 0) return 0;
  const int code = next(id, 0, &ahead, nullptr);
  if (code == 0) clock.add(from_seconds(seconds_of(ahead)));
  return code;
}

timespec virtual_now(ThreadClock& clock, clockid_t id) {
  const std::int64_t ns = runtime()->clocks.origin_ns(id) + clock.read().time_since_epoch().count() / 1000;
  return {ns / 1'000'000'000, ns % 1'000'000'000};
}

}  // namespace
}  // namespace nplus1::stubs

using namespace nplus1::stubs;

NPLUS1_EXPORT int clock_gettime(clockid_t id, timespec* t) noexcept {
  static auto* const next = real<int(clockid_t, timespec*)>("clock_gettime");
  const bool of_day = id == CLOCK_REALTIME || id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW ||
                      id == CLOCK_REALTIME_COARSE || id == CLOCK_MONOTONIC_COARSE || id == CLOCK_BOOTTIME;
  ThreadClock* clock = of_day ? virtual_clock() : nullptr;
  if (clock == nullptr) return next(id, t);
  // A coarse clock shows what the other does.
  if (id == CLOCK_REALTIME_COARSE) id = CLOCK_REALTIME;
  *t = virtual_now(*clock, id == CLOCK_MONOTONIC_COARSE ? CLOCK_MONOTONIC : id);
  return 0;
}

NPLUS1_EXPORT int gettimeofday(timeval* t, void* zone) noexcept {
  static auto* const next = real<int(timeval*, void*)>("gettimeofday");
  ThreadClock* clock = virtual_clock();
  if (clock == nullptr) return next(t, zone);
  const timespec now = virtual_now(*clock, CLOCK_REALTIME);
  *t = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

NPLUS1_EXPORT time_t time(time_t* t) noexcept {
  static auto* const next = real<time_t(time_t*)>("time");
  ThreadClock* clock = virtual_clock();
  if (clock == nullptr) return next(t);
  const time_t now = virtual_now(*clock, CLOCK_REALTIME).tv_sec;
  if (t != nullptr) *t = now;
  return now;
}

NPLUS1_EXPORT int nanosleep(const timespec* wanted, timespec* left) {
  static auto* const next = real<int(const timespec*, timespec*)>("nanosleep");
  const int code = next(wanted, left);
  if (code == 0) add_sleep(seconds_of(*wanted));
  return code;
}

NPLUS1_EXPORT int clock_nanosleep(clockid_t id, int flags, const timespec* wanted, timespec* left) {
  static auto* const next = real<int(clockid_t, int, const timespec*, timespec*)>("clock_nanosleep");
  timespec before{};
  if ((flags & TIMER_ABSTIME) != 0) {
    clock_gettime(id, &before);
    if (ThreadClock* clock = application_clock(); clock != nullptr && runtime()->settings().virtual_clocks)
      return sleep_until_virtual(*clock, id, before, *wanted, next);
  }
  const int code = next(id, flags, wanted, left);
  if (code == 0) add_sleep(std::max(0.0, seconds_of(*wanted) - seconds_of(before)));
  return code;
}

NPLUS1_EXPORT int usleep(useconds_t wanted) {
  static auto* const next = real<int(useconds_t)>("usleep");
  const int code = next(wanted);
  if (code == 0) add_sleep(1e-6 * wanted);
  return code;
}

NPLUS1_EXPORT unsigned sleep(unsigned wanted) {
  static auto* const next = real<unsigned(unsigned)>("sleep");
  const unsigned left = next(wanted);
  add_sleep(wanted - left);
  return left;
}
