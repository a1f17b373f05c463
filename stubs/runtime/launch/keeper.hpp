// The set-up of a process before `main`, when our library is preloaded under Hydra (MPICH's mpirun; under other launchers
// that of beside.hpp): rank n
// of n+1 becomes the keeper (two processes: keeper_pair.hpp), which starts the simulator and answers Hydra's barriers; the others see a world
// of n (PMI_SIZE stays n, as it is when the program runs without us). It happens in a constructor (role.hpp); programs
// without Hydra's PMI-1 are left alone. Never fails: trouble means kPassive.
#pragma once

#include <string>

namespace nplus1::stubs {

/// "nplus1-PID-STARTTIME" of the hydra_pmi_proxy behind descriptor PMI_FD: the same for all ranks of a job on
/// one host, for no other job. Empty without Hydra.
[[nodiscard]] std::string job_name();

/// The connection to Hydra, PMI_FD; -1 without.
[[nodiscard]] int process_manager() noexcept;

/// Whether Hydra started all of the job's processes on this host.
[[nodiscard]] bool on_one_host() noexcept;

}  // namespace nplus1::stubs
