#include "cli/host_speed.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "calibrate/host.hpp"
#include "cli/failure.hpp"
#include "events/recording/reader.hpp"
#include "hypothesis/recorded/settings.hpp"
#include "semantics/time_settings.hpp"

namespace nplus1::cli {
namespace {

std::string host_words(const calibrate::Host& host) {
  return fmt::format("{} ({}, measured {})", host.name, host.processor, host.date);
}

std::string comparison_words(const calibrate::HostComparison& c) {
  std::string others;
  for (const calibrate::HostRatio& r : c.all)
    if (r.kind != c.kind) others += fmt::format("{}{} {:.3g}", others.empty() ? "" : ", ", r.kind, r.factor);
  return fmt::format(
      "nplus1: measured compute times are multiplied with {:.4g}, the ratio of {} from {} to {}\n"
      "  relies on: all computing being limited by that; of other kinds it would be: {}\n",
      c.factor, c.kind, host_words(c.here), host_words(c.there), others);
}

[[noreturn]] void refuse_given(const std::string& how, const char* consequence) {
  throw Failure{
      ExitCode::kUsage,
      fmt::format("--host-speed: computing is {}, and two hosts' files scale measured computing alone", how),
      consequence, "leave out --host-speed, or --compute"};
}

void scale_compute(RunOptions& options, double factor) {
  const semantics::ComputeTimes& times = options.settings.compute_times;
  if (times.mode != semantics::ComputeMode::kMeasured || times.warm)
    refuse_given("'" + options.settings.compute + "'", kNothingStarted);
  give(options, "--compute", fmt::format("scale:{:.17g}", times.scale * factor));
}

void scale_compute(ReplayWords& words, double factor) {
  const auto reader =
      or_fail(events::recording::Reader::open(words.source), ExitCode::kNoInput, kNothingReplayed);
  const auto recorded = hypothesis::recorded_settings(reader.properties());
  if (recorded.given_compute()) refuse_given("'" + recorded.compute + "' in the recording", kNothingReplayed);
  words.compute_scale *= factor;
}

}  // namespace

HostSpeed host_speed_of(const std::string& text, const char* consequence) {
  HostSpeed result;
  if (text.find(':') != text.npos) {
    const auto compared = calibrate::compare_hosts(text);
    if (!compared)
      throw Failure{ExitCode::kUsage, "--host-speed: " + compared.error().what, consequence,
                    compared.error().remedy};
    result.factor = compared.value().factor;
    result.words = comparison_words(compared.value());
    return result;
  }
  result.speed = text;
  std::error_code error;
  if (text.empty() || !std::filesystem::exists(text, error)) return result;
  const auto host = calibrate::read_host(text);
  if (!host)
    throw Failure{ExitCode::kUsage, "--host-speed: " + host.error().what, consequence, host.error().remedy};
  result.speed = fmt::format("{:.17g}f", host.value().scalar_flops);
  result.words = fmt::format(
      "nplus1: this machine's speed is taken to be {:.4g} Gf, scalar floating point of {}\n"
      "  relies on: the platform's speeds being of the same kind\n",
      1e-9 * host.value().scalar_flops, host_words(host.value()));
  return result;
}

void apply_host_speed(RunOptions& options) {
  const HostSpeed host = host_speed_of(given(options, "--host-speed"), kNothingStarted);
  if (host.words.empty()) return;
  give(options, "--host-speed", host.speed);
  unsetenv("NPLUS1_HOST_SPEED");  // the ranks get what it comes to
  if (host.speed.empty()) scale_compute(options, host.factor);
  understand(options);
  if (!options.quiet) fmt::print(stderr, "{}", host.words);
}

void apply_host_speed(ReplayWords& words) {
  const HostSpeed host = host_speed_of(words.platform.host_speed, kNothingReplayed);
  if (host.words.empty()) return;
  words.platform.host_speed = host.speed;
  if (host.speed.empty()) scale_compute(words, host.factor);
  if (!words.quiet) fmt::print(stderr, "{}", host.words);
}

}  // namespace nplus1::cli
