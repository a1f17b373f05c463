#include "cli/run/host_speed.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "cli/failure.hpp"
#include "cli/host_speed.hpp"
#include "cli/to_stderr.hpp"
#include "semantics/time_settings.hpp"

namespace nplus1::cli {
namespace {

void scale_compute(RunOptions& options, double factor) {
  const semantics::ComputeTimes& times = options.settings.compute_times;
  if (times.mode != semantics::ComputeMode::kMeasured || times.warm)
    refuse_host_speed("'" + options.settings.compute + "'", kNothingStarted);
  give(options, "--compute", fmt::format("scale:{:.17g}", times.scale * factor));
}

}  // namespace

void apply_host_speed(RunOptions& options) {
  const HostSpeed host = host_speed_of(given(options, "--host-speed"), kNothingStarted);
  if (host.words.empty()) return;
  give(options, "--host-speed", host.speed);
  unsetenv("NPLUS1_HOST_SPEED");  // the ranks get what it comes to
  if (host.speed.empty()) scale_compute(options, host.factor);
  understand(options);
  if (!options.quiet) to_stderr("{}", host.words);
}

}  // namespace nplus1::cli
