// What this process is to nplus1, decided in a constructor before `main` from what its environment says, and settings
// that are asked for after the environment has forgotten them. Any thread; nothing here fails.
#pragma once

#include <optional>
#include <string>

namespace nplus1::stubs {

enum class Role {
  kPassive,  // not a rank of a job that is to be watched, or nothing to simulate on: the library passes everything
             // through
  kNative,  // NPLUS1_NATIVE=1: full world, no simulator, only the progress hook
  kRank,    // one of n ranks; who started them knows where the simulator is, if it lives
};

/// Decided once, before `main`; the same in every process image that a rank executes.
[[nodiscard]] Role role() noexcept;

/// The process that the rank is (its children of vfork() share all else with it).
[[nodiscard]] int own_process() noexcept;

/// What the environment said when the process began.
enum class Transport : unsigned char { kAny, kSharedMemory, kTcp };
[[nodiscard]] Transport wanted_transport() noexcept;
/// Whether NPLUS1_OUTPUT was given.
[[nodiscard]] bool names_output_itself() noexcept;
[[nodiscard]] bool quiet() noexcept;

/// A rank's children are no ranks: once a process has become one, by calling MPI_Init, its environment no longer
/// preloads this library nor tells of the job. (Until then it may be a shell or an interpreter that executes the
/// rank.)
void forget_job_environment();

// --- for decide_role() ---

/// The role by what the library's own starter says; implemented once for each MPI library (keeper.cpp, openmpi/role.cpp).
/// Called before `main`.
[[nodiscard]] Role decide_role();
[[nodiscard]] std::optional<int> environment_number(const char* name);
/// The C library's own setenv: the program's of that name may do nothing.
void set_variable(const char* name, const std::string& value);
/// One line on stderr.
void say(const char* text);
/// kPassive; says why under NPLUS1_VERBOSE, and by one rank only, whatever starter numbers them.
Role passive(const char* why);

}  // namespace nplus1::stubs
