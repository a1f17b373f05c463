// The replays of a sweep, each in a child process.
#include <cstring>
#include <type_traits>

#include "hypothesis/children.hpp"
#include "hypothesis/sweep.hpp"

namespace nplus1::hypothesis {

static_assert(std::is_trivially_copyable_v<PointResult>);

PointResult point_of(const ReplayResult& result) {
  return {result.makespan().time_since_epoch(),
          result.compute_share(),
          result.communication_share(),
          result.unexplained_share(),
          result.state == simnode::engine::State::kFinished,
          trust_of(result)};
}

Result<std::vector<PointResult>> run_points(std::size_t count, std::size_t jobs,
                                            const std::function<Result<PointResult>(std::size_t)>& replay,
                                            const std::function<void(std::size_t)>& progress) {
  const Work as_bytes = [&replay](std::size_t point) -> Result<std::string> {
    const auto result = replay(point);
    if (!result) return result.error();
    std::string bytes(sizeof(PointResult), '\0');
    std::memcpy(bytes.data(), &result.value(), sizeof(PointResult));
    return bytes;
  };
  const auto texts = in_children(count, jobs, as_bytes, progress);
  if (!texts) return texts.error();
  std::vector<PointResult> results(count);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(&results[i], texts.value()[i].data(), sizeof(PointResult));
  return results;
}

}  // namespace nplus1::hypothesis
