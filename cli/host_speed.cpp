#include "cli/host_speed.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "calibrate/host.hpp"
#include "cli/failure.hpp"

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

void refuse_host_speed(const std::string& how, const char* consequence) {
  throw Failure{
      ExitCode::kUsage,
      fmt::format("--host-speed: computing is {}, and two hosts' files scale measured computing alone", how),
      consequence, "leave out --host-speed, or --compute"};
}

}  // namespace nplus1::cli
