// The set-up of a process before `main`, when our library is preloaded under Hydra (MPICH's mpirun): rank n
// of n+1 becomes the keeper (two processes: keeper_pair.hpp), which starts the simulator and answers Hydra's barriers; the others see a world
// of n. It happens in a constructor; programs without Hydra's PMI-1 are left alone. Never fails: trouble
// means kPassive.
#pragma once

#include <string>

namespace nplus1::stubs {

/// What this process is to nplus1.
enum class Role {
  kPassive,  // not started by Hydra, spawned, or nothing to simulate on: the library passes everything
             // through
  kNative,   // NPLUS1_NATIVE=1: full world, no simulator, only the progress hook
  kRank,     // one of n ranks; the process manager knows where the simulator is, if it lives
};

/// Decided once, before `main`; the same in every process image that a rank executes. Any thread.
[[nodiscard]] Role role() noexcept;

/// "nplus1-PID-STARTTIME" of the hydra_pmi_proxy behind descriptor PMI_FD: the same for all ranks of a job on
/// one host, for no other job. Empty without Hydra.
[[nodiscard]] std::string job_name();

/// The process that the rank is (its children of vfork() share all else with it).
[[nodiscard]] int own_process() noexcept;
/// The connection to Hydra, PMI_FD; -1 without.
[[nodiscard]] int process_manager() noexcept;

/// Whether Hydra started all of the job's processes on this host.
[[nodiscard]] bool on_one_host() noexcept;

/// What the environment said when the process began.
enum class Transport : unsigned char { kAny, kSharedMemory, kTcp };
[[nodiscard]] Transport wanted_transport() noexcept;
/// Whether NPLUS1_OUTPUT was given.
[[nodiscard]] bool names_output_itself() noexcept;
[[nodiscard]] bool quiet() noexcept;

/// A rank's children are no ranks: once a process has become one, by calling MPI_Init, its environment no longer
/// preloads this library nor tells of the job. (Until then it may be a shell or an interpreter that executes the
/// rank.) PMI_SIZE stays n, as it is when the program runs without us.
void forget_job_environment();

}  // namespace nplus1::stubs
