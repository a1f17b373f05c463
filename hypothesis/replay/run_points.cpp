// The replays of a sweep, each in a child process.
#include "hypothesis/replay/sweep.hpp"
#include "support/processes/children.hpp"

namespace nplus1::hypothesis {

PointResult point_of(const ReplayResult& result) {
  return {result.makespan().time_since_epoch(),
          result.compute_share(),
          result.communication_share(),
          result.unexplained_share(),
          result.state == simnode::engine::State::kFinished,
          result.ended,
          trust_of(result)};
}

Result<std::vector<PointResult>> run_points(std::size_t count, std::size_t jobs,
                                            const std::function<Result<PointResult>(std::size_t)>& replay,
                                            const std::function<void(std::size_t)>& progress) {
  return processes::in_children(count, {.jobs = jobs, .progress = progress}, replay);
}

}  // namespace nplus1::hypothesis
