// The set-up of a process before `main`, when our library is preloaded under Hydra (MPICH's mpirun): rank n
// of n+1 becomes the keeper, which starts the simulator and answers Hydra's barriers; the others see a world
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
  kRank,     // one of n ranks; the simulator (if it lives) listens on the abstract socket job_name()
};

/// Decided once, before `main`; the same in every process image that a rank executes. Any thread.
[[nodiscard]] Role role() noexcept;

/// "nplus1-PID-STARTTIME" of the hydra_pmi_proxy behind descriptor PMI_FD: the same for all ranks of a job on
/// one host, for no other job. Empty without Hydra. When MPI_Init has passed its first PMI barrier, the
/// simulator listens under this name, or never will.
[[nodiscard]] std::string job_name();

}  // namespace nplus1::stubs
