// Where the application called MPI: the return addresses on the stack, as numbers that are defined to the
// simulator once. Unwinding takes microseconds, so a path is remembered by the innermost return address and
// its place on the stack, with the stack slots that held the outer return addresses: while they hold the same
// addresses it is the same path, which takes tens of nanoseconds to see.
// Where a Python program calls MPI, its Python frames take the place of the interpreter's, and of what leads from there to
// MPI only the program's own C modules count, not mpi4py's (python_frames.hpp).
// Called with the runtime's lock held. Where the stack can't be unwound, the path is what was found.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "stubs/runtime/capture/modules.hpp"
#include "stubs/runtime/capture/python_frames.hpp"
#include "support/ids.hpp"

namespace nplus1::stubs {

inline constexpr unsigned kMostFrames = 16;

class CallPaths {
 public:
  /// Tells the simulator what a number means: the path's frames, a line each (docs/formats/events.md).
  using Define = std::function<void(CallSiteId, const std::string& frames)>;

  /// `frames`: of the application, from 1 to kMostFrames. With 1 nothing is unwound: the address alone
  /// counts, in whatever module it lies.
  CallPaths(unsigned frames, Define define)
      : frames_{frames}, define_{std::move(define)}, python_{PythonFrames::make()} {}

  /// The path to the call that returns to `address`, made by the function whose callee has its frame at
  /// `frame`.
  [[nodiscard]] CallSiteId id(const void* address, const void* frame);
  /// The same of a path that was walked elsewhere, innermost first. Frames of the system's libraries at its beginning
  /// are left out where the application follows.
  [[nodiscard]] CallSiteId id_of(const void* const* addresses, std::size_t size);
  /// "MODULE+0xOFFSET" of a return address.
  [[nodiscard]] const std::string& place(const void* address);

 private:
  struct Step {
    const void* address = nullptr;
    const void* const* slot = nullptr;  // where on the stack it was found
  };
  struct Walk {
    const void* innermost = nullptr;
    std::size_t wanted = 0;
    std::vector<Step> steps;
  };
  struct Known {
    const void* address = nullptr;
    const void* frame = nullptr;
    CallSiteId id{};
    std::uint32_t slots = 0;
    std::array<Step, kMostFrames + 4> outer;
  };
  /// The same function at the same depth may be called from several places in turn (LU's exchange_1).
  static constexpr std::size_t kWays = 4;
  static constexpr std::size_t kSets = 512;
  struct Set {
    std::array<Known, kWays> ways;
    std::uint32_t next = 0;  // to be replaced
  };

  using Cache = std::array<Set, kSets>;

  [[nodiscard]] static bool holds(const Known& known);
  /// Null where it is not known.
  [[nodiscard]] static const Known* find(const Set& set, const void* address, const void* frame);
  /// `last`: of the walk's steps, compared before it is believed again.
  static void remember(const Walk& walk, std::size_t last, const void* frame, CallSiteId id, Known& known);
  [[nodiscard]] CallSiteId one_frame(const void* address);
  CallSiteId look(const void* address, const void* frame, Known& known, bool may_remember);
  [[nodiscard]] static Walk walk(const void* address, unsigned frames);
  /// How much of a walk is the application's: [first, second).
  [[nodiscard]] std::pair<std::size_t, std::size_t> part(const Walk& walk);
  [[nodiscard]] CallSiteId intern(std::vector<const void*> addresses);

  /// The number of what lies between the interpreter and MPI; none where no interpreter called.
  [[nodiscard]] std::optional<std::uint32_t> way_from_python(const void* address, const void* frame);
  std::uint32_t look_from_python(const void* address, const void* frame, Known& known, bool may_remember);
  [[nodiscard]] std::uint32_t intern_way(std::vector<const void*> addresses);
  /// 0 where the call was not made by Python, or that cannot be told.
  [[nodiscard]] CallSiteId python_id(const void* address, const void* frame);
  [[nodiscard]] ModuleKind kind_of(const void* address);

  unsigned frames_;
  Define define_;
  Modules modules_;
  std::unique_ptr<Cache> known_;
  std::unordered_map<const void*, CallSiteId> single_;
  std::map<std::vector<const void*>, CallSiteId> ids_;
  std::unordered_map<const void*, std::string> places_;
  std::uint32_t last_ = 0;

  std::unique_ptr<PythonFrames> python_;  // null: there is no interpreter
  std::unique_ptr<Cache> known_ways_;     // `id` is a way's number
  std::map<std::vector<const void*>, std::uint32_t> way_numbers_;
  std::vector<std::vector<const void*>> ways_;
  std::unordered_map<const void*, bool> bindings_;  // by return address, where nothing is unwound
  std::map<std::vector<std::uint32_t>, CallSiteId> python_ids_;  // by way and places
  std::vector<std::uint32_t> key_;                               // of the call under way
};

}  // namespace nplus1::stubs
