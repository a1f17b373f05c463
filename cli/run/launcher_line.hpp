// A launcher's own line, as users have it (`mpirun -n 16 -hosts a,b ./app args`, `srun -n 16 ./app`), taken apart so that
// the job can be started observed. Pure, but for launcher_of(), which looks at programs, and what the environment says of
// Slurm; any thread. A line that cannot be taken apart is an Error, and nothing is guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/run/job.hpp"
#include "support/result.hpp"

namespace nplus1::cli {

/// Who starts a job: Hydra (MPICH's mpirun), Open MPI's mpirun, Slurm's srun, PRRTE's prun, Flux's flux run.
enum class LauncherKind { kHydra, kOpenMpi, kSlurm, kPrrte, kFlux };

struct Launcher {
  LauncherKind kind = LauncherKind::kHydra;
  std::vector<std::string> words;  // what is executed: {"srun"}, {"flux", "run"}
};

/// One line; of each section the options are the launcher's own, verbatim, but for the number of ranks.
struct LauncherLine {
  Launcher launcher;
  std::vector<Section> sections;
};

using EnvironmentVariables = std::vector<std::pair<std::string, std::string>>;  // NAME, VALUE

/// The launcher that `words` begin with, by its name and, of `mpirun` and `mpiexec`, by which file that is or what its
/// --version says; nothing where the first word is no launcher's name.
[[nodiscard]] Result<std::optional<Launcher>> launcher_of(const std::vector<std::string>& words);

/// `words`: what follows the launcher's own. `ranks`: how many there are, where that is said apart (`nplus1 run -n`): the
/// line must then say the same, or nothing.
[[nodiscard]] Result<LauncherLine> take_apart(const Launcher& launcher, const std::vector<std::string>& words,
                                              std::optional<std::int32_t> ranks);

/// The line of a launcher that starts the ranks alone (all but Hydra), observed: `preload` is LD_PRELOAD of the ranks, not
/// of the launcher's, and `environment` for both; `handed_on` are names of further variables of this process that the ranks
/// need, whose values are in no command line.
[[nodiscard]] Result<std::vector<std::string>> observed_line(const LauncherLine& line,
                                                             const std::string& preload,
                                                             const EnvironmentVariables& environment,
                                                             const std::vector<std::string>& handed_on);

}  // namespace nplus1::cli
