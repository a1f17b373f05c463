#include "calibrate/host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace nplus1::calibrate {
namespace {

using nlohmann::json;

constexpr std::size_t kLargestFile = 1U << 20U;
constexpr std::size_t kMostLevels = 16;
constexpr const char* kMeasureAgain =
    "nplus1 calibrate --host -o FILE writes one, on the host that it is about";

std::string quoted(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

/// A rate or a time: finite and above 0; else the key goes into `wrong`.
double positive_at(const json& object, const char* key, std::string& wrong) {
  const auto found = object.find(key);
  const double value = found != object.end() && found->is_number() ? found->get<double>() : 0;
  if (std::isfinite(value) && value > 0) return value;
  if (wrong.empty()) wrong = key;
  return 1;
}

std::uint64_t count_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string level_json(const MemoryLevel& level) {
  return fmt::format(
      "    {{\"name\": {}, \"bytes\": {}, \"touched\": {}, \"bandwidth\": {}, \"latency_s\": {}}}",
      quoted(level.name), level.bytes == 0 ? "null" : std::to_string(level.bytes), level.touched,
      json(level.bandwidth).dump(), json(level.latency_s).dump());
}

Error not_a_host(const std::string& name, const std::string& why) {
  return {fmt::format("{}: {}", name, why), kMeasureAgain};
}

}  // namespace

std::string host_json(const Host& host) {
  std::string levels;
  for (const MemoryLevel& level : host.levels) levels += (levels.empty() ? "" : ",\n") + level_json(level);
  return fmt::format(
      "{{\n  \"schema\": \"{}\",\n  \"host\": {},\n  \"processor\": {},\n  \"date\": {},\n"
      "  \"scalar_flops\": {},\n  \"vector_flops\": {},\n  \"vector_bits\": {},\n  \"levels\": [\n{}\n  "
      "]\n}}\n",
      kHostSchema, quoted(host.name), quoted(host.processor), quoted(host.date),
      json(host.scalar_flops).dump(), json(host.vector_flops).dump(), host.vector_bits, levels);
}

Result<Host> parse_host(std::string_view text, const std::string& name) {
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object()) return not_a_host(name, "this is no JSON object");
  if (text_at(document, "schema") != kHostSchema)
    return not_a_host(name,
                      fmt::format("its schema is '{}', not {}", text_at(document, "schema"), kHostSchema));
  Host host;
  host.name = text_at(document, "host");
  host.processor = text_at(document, "processor");
  host.date = text_at(document, "date");
  std::string wrong;
  host.scalar_flops = positive_at(document, "scalar_flops", wrong);
  host.vector_flops = positive_at(document, "vector_flops", wrong);
  host.vector_bits =
      static_cast<unsigned>(std::min<std::uint64_t>(count_at(document, "vector_bits"), 1U << 20U));
  const auto levels = document.find("levels");
  if (levels == document.end() || !levels->is_array() || levels->empty() || levels->size() > kMostLevels)
    return not_a_host(name, fmt::format("levels is no list of 1 to {} levels", kMostLevels));
  for (const json& l : *levels) {
    if (!l.is_object()) return not_a_host(name, "one of its levels is no object");
    MemoryLevel& level = host.levels.emplace_back();
    level.name = text_at(l, "name");
    level.bytes = count_at(l, "bytes");
    level.touched = count_at(l, "touched");
    level.bandwidth = positive_at(l, "bandwidth", wrong);
    level.latency_s = positive_at(l, "latency_s", wrong);
    if (level.name.empty()) return not_a_host(name, "one of its levels has no name");
  }
  if (!wrong.empty()) return not_a_host(name, fmt::format("{} is no number above 0", wrong));
  return host;
}

Result<Host> read_host(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    return not_a_host(file.string(), "there is no such file");
  std::ifstream in{file, std::ios::binary};
  if (!in) return not_a_host(file.string(), "it cannot be read");
  std::string text(kLargestFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kLargestFile) return not_a_host(file.string(), "it is larger than a megabyte");
  return parse_host(text, file.string());
}

std::vector<HostRatio> host_ratios(const Host& here, const Host& there) {
  std::vector<HostRatio> all{{"scalar", here.scalar_flops / there.scalar_flops},
                             {"vector", here.vector_flops / there.vector_flops}};
  for (const MemoryLevel& level : here.levels) {
    const auto same = std::find_if(there.levels.begin(), there.levels.end(),
                                   [&](const MemoryLevel& l) { return l.name == level.name; });
    if (same == there.levels.end()) continue;
    all.push_back({level.name, level.bandwidth / same->bandwidth});
    all.push_back({level.name + "-latency", same->latency_s / level.latency_s});
  }
  return all;
}

Result<HostComparison> compare_hosts(std::string_view text) {
  const std::size_t first = text.find(':');
  const std::size_t second = first == text.npos ? first : text.find(':', first + 1);
  if (first == text.npos || first == 0 || first + 1 == text.size() || second == first + 1)
    return Error{fmt::format("'{}' does not name two hosts' files", text),
                 "HERE.json:THERE.json, or HERE.json:THERE.json:KIND; " + std::string{kMeasureAgain}};
  const auto here = read_host(std::filesystem::path{text.substr(0, first)});
  if (!here) return here.error();
  const auto there = read_host(std::filesystem::path{text.substr(first + 1, second - first - 1)});
  if (!there) return there.error();
  HostComparison c{here.value(), there.value(), "scalar", 1, host_ratios(here.value(), there.value())};
  if (second != text.npos) c.kind = text.substr(second + 1);
  std::string kinds;
  for (const HostRatio& ratio : c.all) {
    kinds += (kinds.empty() ? "" : ", ") + ratio.kind;
    if (ratio.kind != c.kind) continue;
    c.factor = ratio.factor;
    if (std::isfinite(c.factor) && c.factor > 0) return c;
    return Error{fmt::format("the two hosts' {} cannot be compared: the one is {:g} times the other", c.kind,
                             c.factor),
                 kMeasureAgain};
  }
  return Error{fmt::format("'{}' is no kind of computing that both files tell of", c.kind),
               "the kinds are: " + kinds};
}

}  // namespace nplus1::calibrate
