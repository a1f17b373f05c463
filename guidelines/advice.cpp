#include "guidelines/advice.hpp"

#include <fmt/format.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "guidelines/finite_json.hpp"

namespace nplus1::guidelines {
namespace {

using Json = nlohmann::ordered_json;

std::string environment_text(const AlgorithmSetting& setting) {
  std::string text;
  for (const auto& [name, value] : setting.environment) text += fmt::format(" {}={}", name, value);
  return text;
}

std::string best_text(const Advice& advice) {
  const TriedSetting* best = advice.best();
  if (!std::isfinite(advice.before))
    return fmt::format(
        "  {:>8} B  could not be measured by default: there is nothing to compare settings with\n",
        advice.size);
  if (best == nullptr) return fmt::format("  {:>8} B  no setting helps\n", advice.size);
  const std::string hockney =
      best->hockney ? fmt::format(" (Hockney: {:.2f} us)", 1e6 * *best->hockney) : std::string{};
  return fmt::format(
      "  {:>8} B  {:<36} {:>8.2f} us -> {:>8.2f} us, {:.2f} x faster{}; the mock-up: {:.2f} us: {}\n",
      advice.size, best->setting.algorithm, 1e6 * advice.before, 1e6 * best->seconds,
      advice.before / best->seconds, hockney, 1e6 * advice.mock_up,
      advice.removes_violation(*best) ? "violation gone" : "still violated");
}

Json tried_json(const Advice& advice, const TriedSetting& one) {
  Json json{{"algorithm", one.setting.algorithm}, {"environment", Json::object()}};
  for (const auto& [name, value] : one.setting.environment) json["environment"][name] = value;
  json["time_s"] = number(one.seconds);
  json["p"] = number(one.p);
  json["hockney_s"] = one.hockney ? number(*one.hockney) : Json();
  json["helps"] = advice.helps(one);
  json["removes_violation"] = advice.removes_violation(one);
  json["failure"] = one.failure.empty() ? Json() : Json(one.failure);
  return json;
}

Json advice_json(const Advice& advice) {
  const TriedSetting* best = advice.best();
  Json json{{"function", advice.function},
            {"processes", advice.processes},
            {"size", advice.size},
            {"default_s", number(advice.before)},
            {"mock_up_s", number(advice.mock_up)},
            {"best", best == nullptr ? Json() : Json(best->setting.algorithm)},
            {"tried", Json::array()}};
  for (const TriedSetting& one : advice.tried) json["tried"].push_back(tried_json(advice, one));
  return json;
}

}  // namespace

bool Advice::helps(const TriedSetting& one) const {
  return one.failure.empty() && std::isfinite(before) && one.p <= kEffectAlpha &&
         before > kLeastEffect * one.seconds;
}

bool Advice::removes_violation(const TriedSetting& one) const {
  return helps(one) && one.seconds <= kLeastEffect * mock_up;
}

const TriedSetting* Advice::best() const {
  const TriedSetting* best = nullptr;
  for (const TriedSetting& one : tried)
    if (helps(one) && (best == nullptr || one.seconds < best->seconds)) best = &one;
  return best;
}

std::string advice_text(const std::vector<Advice>& advice) {
  std::string text;
  for (const Advice& one : advice) text += best_text(one);
  if (advice.empty()) return text;
  for (const TriedSetting& one : advice.front().tried)
    text += fmt::format("    {:<36}{}{}\n", one.setting.algorithm, environment_text(one.setting),
                        one.failure.empty() ? "" : "  not advised: " + one.failure);
  return text;
}

std::string advice_json(const std::vector<Advice>& advice, const std::string& library) {
  Json json{{"schema", kAdviceSchema}, {"mpi_library", library}, {"advice", Json::array()}};
  for (const Advice& one : advice) json["advice"].push_back(advice_json(one));
  return json.dump(2) + "\n";
}

}  // namespace nplus1::guidelines
