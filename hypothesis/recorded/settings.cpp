#include "hypothesis/recorded/settings.hpp"

#include <charconv>

#include "semantics/time_settings.hpp"

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

Duration fixed_interval(const std::string& compute) {
  const auto times = semantics::parse_compute(compute);
  return times && times.value().mode == semantics::ComputeMode::kFixed ? times.value().fixed : Duration{};
}

}  // namespace

RecordedSettings recorded_settings(const events::recording::Properties& properties) {
  RecordedSettings settings;
  settings.application = property(properties, "application");
  settings.network = property(properties, "network");
  settings.storage = property(properties, "storage");
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
