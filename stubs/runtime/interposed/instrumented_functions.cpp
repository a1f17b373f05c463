// Functions of programs built with -finstrument-functions as regions. The compiler calls these two at each
// edge of each function; other programs never do. Recorded runs only.
// Bounded: a function of whose last 1000 calls most were short is left out from then on, so that those that
// are kept cost a few per cent. (Not the mean: it says more about a busy machine than about the function.)
#include <new>
#include <unordered_map>
#include <vector>

#include "stubs/runtime/regions.hpp"
#include "stubs/runtime/runtime.hpp"

namespace nplus1::stubs {
namespace {

constexpr std::uint32_t kCallsToJudge = 1000;
constexpr std::uint32_t kMostShort = kCallsToJudge / 2;
constexpr double kShortNs = 20'000;

struct Function {
  std::string place;  // MODULE+0xOFFSET, named after the run
  std::uint32_t calls = 0;
  std::uint32_t short_calls = 0;
  bool left_out = false;
};

/// A function that has not returned.
struct Open {
  void* address;
  Function* function;  // null: not recorded
  std::int64_t since;
};

/// One thread's functions. Lost with the thread.
struct Profile {
  std::vector<Open> open;
  std::unordered_map<void*, Function> functions;
};
constinit thread_local Profile* profile = nullptr;

struct ProfileOwner {
  ~ProfileOwner() { delete std::exchange(profile, nullptr); }
};

Profile& own_profile() {
  static thread_local ProfileOwner owner;
  if (profile == nullptr) profile = new Profile;
  return *profile;
}

bool watches() noexcept {
  return call_state.depth == 0 && active() && runtime()->capture() != nullptr;
}

Function& function_at(Profile& own, void* address) {
  Function& f = own.functions[address];
  if (f.place.empty()) {
    Runtime& rt = *runtime();
    const std::lock_guard guard{rt.lock};
    f.place = rt.instruments.call_paths().place(address);
  }
  return f;
}

void close(Profile& own, const void* site, const void* frame) {
  const Open last = own.open.back();
  own.open.pop_back();
  Function* f = last.function;
  if (f == nullptr) return;
  if (static_cast<double>(ticks() - last.since) * nanoseconds_per_tick() < kShortNs) ++f->short_calls;
  if (++f->calls == kCallsToJudge) {
    f->left_out = f->short_calls > kMostShort;
    f->calls = f->short_calls = 0;
  }
  region_edge(events::EventKind::kRegionEnd, f->place, site, frame, true);
}

void enter(void* address, const void* site, const void* frame) {
  Profile& own = own_profile();
  Function& f = function_at(own, address);
  if (!f.left_out) region_edge(events::EventKind::kRegionBegin, f.place, site, frame, true);
  own.open.push_back({address, f.left_out ? nullptr : &f, ticks()});
}

/// Functions that a longjmp has left end here, too. One that was entered before MPI_Init is not known.
void leave(const void* address, const void* site, const void* frame) {
  if (profile == nullptr) return;
  Profile& own = *profile;
  std::size_t n = own.open.size();
  while (n > 0 && own.open[n - 1].address != address) --n;
  while (n > 0 && own.open.size() >= n) close(own, site, frame);
}

}  // namespace
}  // namespace nplus1::stubs

#define NPLUS1_EXPORT extern "C" __attribute__((visibility("default")))

NPLUS1_EXPORT void __cyg_profile_func_enter(void* function, void* /*caller*/) {
  const void* site = __builtin_return_address(0);
  const void* frame = __builtin_frame_address(0);
  using namespace nplus1::stubs;
  if (watches()) guarded([=] { enter(function, site, frame); });
}
NPLUS1_EXPORT void __cyg_profile_func_exit(void* function, void* /*caller*/) {
  const void* site = __builtin_return_address(0);
  const void* frame = __builtin_frame_address(0);
  using namespace nplus1::stubs;
  if (watches()) guarded([=] { leave(function, site, frame); });
}
