#include "hypothesis/recorded_settings.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace nplus1::hypothesis {
namespace {

std::string property(const events::recording::Properties& properties, const char* name) {
  const auto found = properties.find(name);
  return found == properties.end() ? std::string{} : found->second;
}

/// "FIRST,CAP" in picoseconds.
semantics::PollCost poll_cost(const std::string& text) {
  std::int64_t first = 0;
  std::int64_t cap = 0;
  const char* end = text.data() + text.size();
  const auto comma = std::from_chars(text.data(), end, first);
  if (comma.ec != std::errc{} || comma.ptr == end || *comma.ptr != ',') return {};
  if (std::from_chars(comma.ptr + 1, end, cap).ec != std::errc{} || first < 0 || cap < first) return {};
  return {Duration{first}, Duration{cap}};
}

/// Of "fixed:SECONDS", as the ranks read it.
Duration fixed_interval(const std::string& compute) {
  constexpr std::string_view kFixed = "fixed:";
  if (!compute.starts_with(kFixed)) return {};
  const double length = std::atof(compute.c_str() + kFixed.size());
  return length > 0 ? from_seconds(length) : Duration{};
}

}  // namespace

RecordedSettings recorded_settings(const events::recording::Properties& properties) {
  RecordedSettings settings;
  settings.application = property(properties, "application");
  settings.network = property(properties, "network");
  settings.collectives = property(properties, "collectives");
  settings.clock = property(properties, "clock");
  settings.protocol = property(properties, "protocol");
  settings.compute = property(properties, "compute");
  settings.call_interval = fixed_interval(settings.compute);
  settings.native = property(properties, "recorded") == "native";
  settings.poll_cost = poll_cost(property(properties, "poll-cost-ps"));
  return settings;
}

}  // namespace nplus1::hypothesis
