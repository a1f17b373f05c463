#include "semantics/processor_counters.hpp"

#include <dlfcn.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace nplus1::semantics {
namespace {

constexpr const char* kRemedy =
    "--compute warm takes out what the host's caches cost without counters; --clock cpu takes CPU time as it "
    "is";

/// The page of one event; unmapped at the end.
class Mapped {
 public:
  explicit Mapped(const perf_event_mmap_page* page = nullptr) : page_{page} {}
  Mapped(Mapped&& other) noexcept : page_{std::exchange(other.page_, nullptr)} {}
  Mapped& operator=(Mapped&&) = delete;
  ~Mapped() {
    if (page_ != nullptr)
      munmap(const_cast<perf_event_mmap_page*>(page_), static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  }
  [[nodiscard]] const volatile perf_event_mmap_page& page() const { return *page_; }

 private:
  const perf_event_mmap_page* page_;
};

Error failed(const std::string& why) {
  return {"this host's processor counters cannot be read: " + why, kRemedy};
}

std::string why_not_opened(int error) {
  if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP)
    return "the processor, or the virtual machine that stands for it, has none (perf_event_open: " +
           std::string{std::strerror(error)} + ")";
  if (error == EACCES || error == EPERM)
    return "this user may not (perf_event_open: " + std::string{std::strerror(error)} +
           "; /proc/sys/kernel/perf_event_paranoid must be 2 or less, and no sandbox forbid it)";
  return "perf_event_open: " + std::string{std::strerror(error)};
}

Result<Mapped> open_event(std::uint64_t which) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof(attributes);
  attributes.config = which;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) return failed(why_not_opened(errno));
  void* const memory = mmap(nullptr, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_READ, MAP_SHARED,
                            static_cast<int>(fd), 0);
  const int error = errno;
  close(static_cast<int>(fd));  // the mapping keeps the event
  if (memory == MAP_FAILED) return failed("mmap: " + std::string{std::strerror(error)});
  Mapped mapped{static_cast<const perf_event_mmap_page*>(memory)};
  if (mapped.page().cap_user_rdpmc == 0)
    return failed("programs may not use rdpmc here (/sys/bus/event_source/devices/cpu/rdpmc is 0)");
  return mapped;
}

#if defined(__x86_64__)

class OfThisThread final : public ProcessorCounter {
 public:
  OfThisThread(Mapped instructions, Mapped cycles)
      : instructions_{std::move(instructions)}, cycles_{std::move(cycles)} {}

  [[nodiscard]] std::optional<ProcessorCounts> read() noexcept override {
    const auto rdpmc = [](std::uint32_t index) { return __rdpmc(static_cast<int>(index)); };
    const auto instructions = read_counter(instructions_.page(), rdpmc);
    const auto cycles = read_counter(cycles_.page(), rdpmc);
    if (!instructions || !cycles) return std::nullopt;
    return ProcessorCounts{*instructions, *cycles};
  }

 private:
  Mapped instructions_, cycles_;
};

#endif

class OfTheProgram final : public ProcessorCounter {
 public:
  [[nodiscard]] std::optional<ProcessorCounts> read() noexcept override {
    return counts_ == nullptr ? ProcessorCounts{} : ProcessorCounts{counts_[0], counts_[1]};
  }

 private:
  const volatile std::uint64_t* counts_ =
      static_cast<const std::uint64_t*>(dlsym(RTLD_DEFAULT, "nplus1_test_counts"));
};

}  // namespace

Result<std::unique_ptr<ProcessorCounter>> open_processor_counter() {
  if (const char* test = std::getenv("TEST_NPLUS1_COUNTS")) {
    if (std::string{test} == "none") return failed("a test says so");
    return std::unique_ptr<ProcessorCounter>{std::make_unique<OfTheProgram>()};
  }
#if defined(__x86_64__)
  auto instructions = open_event(PERF_COUNT_HW_INSTRUCTIONS);
  if (!instructions) return instructions.error();
  auto cycles = open_event(PERF_COUNT_HW_CPU_CYCLES);
  if (!cycles) return cycles.error();
  return std::unique_ptr<ProcessorCounter>{
      std::make_unique<OfThisThread>(std::move(instructions).value(), std::move(cycles).value())};
#else
  return failed("only those of x86-64 are known");
#endif
}

}  // namespace nplus1::semantics
