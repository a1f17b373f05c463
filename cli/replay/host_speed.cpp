#include "cli/replay/host_speed.hpp"

#include <fmt/format.h>

#include "cli/failure.hpp"
#include "cli/host_speed.hpp"
#include "cli/to_stderr.hpp"
#include "events/recording/reader.hpp"
#include "hypothesis/recorded/settings.hpp"

namespace nplus1::cli {
namespace {

void scale_compute(ReplayWords& words, double factor) {
  const auto reader =
      or_fail(events::recording::Reader::open(words.source), ExitCode::kNoInput, kNothingReplayed);
  const auto recorded = hypothesis::recorded_settings(reader.properties());
  if (recorded.given_compute())
    refuse_host_speed("'" + recorded.compute + "' in the recording", kNothingReplayed);
  words.compute_scale *= factor;
}

}  // namespace

void apply_host_speed(ReplayWords& words) {
  const HostSpeed host = host_speed_of(words.platform.host_speed, kNothingReplayed);
  if (host.words.empty()) return;
  words.platform.host_speed = host.speed;
  if (host.speed.empty()) scale_compute(words, host.factor);
  if (!words.quiet) to_stderr("{}", host.words);
}

}  // namespace nplus1::cli
