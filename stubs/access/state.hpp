// What the parts of stubs/access share: the registry of buffers, the modes of pages, and what each thread is doing.
// Private to the folder. `locked` functions are called with the lock held.
#pragma once

#include <csignal>

#include "stubs/access/heat.hpp"
#include "stubs/access/raw_system_call.hpp"
#include "stubs/access/watch.hpp"

namespace nplus1::stubs::access {

inline constexpr std::uint64_t kPageBits = 12;
inline constexpr std::uint64_t kPageBytes = 1U << kPageBits;
inline constexpr std::size_t kMostBuffers = 2048;
inline constexpr std::size_t kMostRecords = 8192;
/// Iterations of a string instruction that are stepped through.
inline constexpr std::uint64_t kMostIterations = 256;

enum Selector : unsigned char { kAllow = 0, kDispatch = 1 };

struct ThreadWatch {
  volatile unsigned char selector = kAllow;  // read by the kernel at each system call
  bool known = false;
  bool inside = false;   // of a wrapper
  bool passing = false;  // in one that reaches no memory of the program's, nor MPI's
  bool holds = false;    // the lock
  bool handles = false;  // in a handler of ours
  unsigned step_pages = 0;
  std::uint64_t stepped[4] = {};
  std::uint64_t step_pc = 0;
  bool reopens = false;  // a system call is executed in place, with everything open
  unsigned long saved_mask = 0;
  unsigned long hidden_mask = 0;  // of our signals, as the program believes it to be
  stack_t program_stack{};        // as it set it
  void* own_stack = nullptr;
  ThreadClock* clock = nullptr;
  std::uint64_t retry_pc = 0, retry_address = 0;
  unsigned retries = 0;
};
extern constinit thread_local ThreadWatch this_watch;

/// The kernel's own form of an action.
struct KernelAction {
  void* handler = nullptr;
  unsigned long flags = 0;
  void* restorer = nullptr;
  unsigned long mask = 0;
};

/// Pages from `first` to before `end`.
struct Pages {
  std::uint64_t first = 0, end = 0;
};

struct State {
  std::atomic<bool> begun{false};
  std::atomic<bool> over{false};
  std::atomic_flag lock = ATOMIC_FLAG_INIT;
  int process = 0;
  unsigned inside = 0;  // threads in wrappers
  unsigned suspended = 0;
  std::uint64_t age = 0;
  std::size_t buffers_used = 0;  // all that are live stand below
  std::size_t records_used = 0;
  std::atomic<unsigned> emergencies{0};
  std::atomic<std::uint64_t> emergency_pages[16];
  KernelAction program_actions[3];   // SIGSEGV, SIGTRAP, SIGSYS: what the program set
  KernelAction program_signals[65];  // of others, where it asks for its alternative stack
  std::int64_t fault_entry_ns = 0;   // outside of the handler's own measure
  std::int64_t system_call_entry_ns = 0;
  ThreadClock* main_clock = nullptr;
  /// What the kernel and our handlers use of each thread, thread-local memory and the control block beside it, which may
  /// share a page with a buffer: never closed.
  static constexpr std::size_t kMostKept = 1024;
  Pages kept_open[kMostKept];
  std::size_t kept_used = 0, kept_next = 0;
  std::int64_t tls_distance = 0;  // from a thread's pointer to our thread-local memory
  std::size_t tls_bytes = 0;
  const unsigned char* text_begin = nullptr;
  std::size_t text_bytes = 0;
  void (*finish)(const Hit& hit) noexcept = nullptr;
  Hit hit;
  std::uint64_t heap_begin = 0, heap_end = 0;  // the text of the module that has malloc
  Heat heat;
  const void* site = nullptr;  // behind the call of MPI's that returned last
  Cost cost;
  Buffer buffers[kMostBuffers];
  Record records[kMostRecords];
};
extern State state;

class Locked {
 public:
  Locked() noexcept;
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

/// A page's byte: its mode (Watched: what is kept out) and how often it was missed since it was closed (to kMostMisses).
inline constexpr unsigned kMostMisses = 63;
static_assert(Heat::kFirstMisses < kMostMisses && Heat::kLaterMisses < kMostMisses);
[[nodiscard]] std::uint8_t* page_byte(std::uint64_t page, bool make) noexcept;
[[nodiscard]] inline Watched mode_of(std::uint8_t byte) {
  return static_cast<Watched>(byte & 3U);
}
[[nodiscard]] inline unsigned misses_of(std::uint8_t byte) {
  return byte >> 2U;
}
/// mprotect, counted. `mode`: what is kept out.
void protect(std::uint64_t page, std::uint64_t pages, Watched mode) noexcept;

[[nodiscard]] inline Watched needed(const Buffer& b) {
  Watched level = b.after > b.flight ? b.after : b.flight;
  return b.armed > level ? b.armed : level;
}
[[nodiscard]] inline bool counts(Watched watched, bool write) {
  return watched == Watched::kAll || (watched == Watched::kWrites && write);
}

/// Visits all buffers that are live.
template <class Visit>
void each_buffer(Visit&& visit) {
  for (std::size_t i = 0; i < state.buffers_used; ++i)
    if (state.buffers[i].live) visit(state.buffers[i]);
}

/// Whether pages from `first` to before `end` have some that are never closed.
[[nodiscard]] bool kept_open_locked(std::uint64_t first, std::uint64_t end) noexcept;
void open_all_locked() noexcept;
void close_all_locked() noexcept;
/// After a buffer needs less: its pages are opened as far as no other needs them.
void lower_locked(Buffer& buffer) noexcept;
/// What the buffers of a page need.
[[nodiscard]] Watched needed_on_locked(std::uint64_t page) noexcept;
/// A page will not be watched until the next call: its buffers count as touched.
void give_up_locked(std::uint64_t page, events::Toucher who, std::int64_t at_ps, const Path* path,
                    const ThreadClock* clock) noexcept;

struct Access {
  bool write = false;
  bool inexact = false;
  events::Toucher who{};
  std::int64_t at_ps = 0;
  std::int64_t tick = 0;
  const ThreadClock* clock = nullptr;
  const Path* path = nullptr;
  std::uint64_t own_from = ~std::uint64_t{0};  // calls from this place on are the toucher's own
};
/// Tells the buffers whose cells the range hits, in closed pages or not; whether there was one that waited for it.
bool touch_locked(Range range, const Access& access, const Buffer* but = nullptr) noexcept;
/// Whether a buffer wants to know of such an access.
[[nodiscard]] bool concerns_locked(Range range, bool write) noexcept;
void touch_buffer_locked(Buffer& b, std::uint64_t address, const Access& access) noexcept;
/// The memory is gone, or no longer ours to protect.
void release_locked(Range range, const Access& access) noexcept;

/// CPU and real time of this thread, for what is not to be charged.
struct Moment {
  std::int64_t cpu_ns = 0;
  std::int64_t tick = 0;
};
[[nodiscard]] Moment moment() noexcept;
/// Nor is what the kernel took to come here.
void exclude(std::int64_t ns) noexcept;
/// What passed since `begin`, and `more_ns` that nobody saw, is no computing of the thread's.
std::int64_t exclude_since(const Moment& begin, std::int64_t more_ns) noexcept;
/// The calling thread's virtual time, and the clock it is told by.
[[nodiscard]] std::int64_t virtual_now(const ThreadClock*& clock) noexcept;
void path_from(void* context, Path& path) noexcept;

/// After a handler has let the lock go: what was hit is finished.
void finish_hit() noexcept;
/// The same in a handler that has interrupted the program, whose signals may come meanwhile.
void finish_hit_in(void* context) noexcept;

void install_handlers() noexcept;
/// The calling thread's own memory is not closed from here on.
void keep_own_pages_open() noexcept;
/// Dispatches the calling thread's system calls to us, and gives it a stack for handlers.
void begin_thread() noexcept;
void measure_costs() noexcept;
/// The program's own action for one of our signals.
void pass_on(int signal, siginfo_t* info, void* context) noexcept;
[[nodiscard]] inline int index_of(int signal) {
  return signal == SIGSEGV ? 0 : signal == SIGTRAP ? 1 : signal == SIGSYS ? 2 : -1;
}
inline constexpr unsigned long bit_of(int signal) {
  return 1UL << static_cast<unsigned>(signal - 1);
}
inline constexpr unsigned long kOurSignals = bit_of(SIGSEGV) | bit_of(SIGTRAP) | bit_of(SIGSYS);

void on_fault(int signal, siginfo_t* info, void* context);
void on_trap(int signal, siginfo_t* info, void* context);
void on_system_call(int signal, siginfo_t* info, void* context);
/// Another signal of the program's with SA_ONSTACK: the kernel knows our alternative stack only, and the handler runs
/// on the program's, or where the program was if it has none.
void on_program_signal(int signal, siginfo_t* info, void* context);

}  // namespace nplus1::stubs::access
