#include <nlohmann/json.hpp>

#include "guidelines/findings_output.hpp"
#include "guidelines/finite_json.hpp"

namespace nplus1::guidelines {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json side_json(const Side& side, bool medians) {
  Json json;
  json["test"] = side.test;
  json["size"] = side.size;
  json["calls"] = side.calls;
  json["time_s"] = number(side.seconds);
  json["without_copies_s"] = optional(side.without_copies);
  if (medians) {
    json["medians_s"] = Json::array();
    for (const double m : side.medians)
      json["medians_s"].push_back(number(m * static_cast<double>(side.calls)));
  }
  return json;
}

Json comparison_json(const Comparison& c, bool medians) {
  Json json;
  json["guideline"] = title(c);
  json["type"] = name(c.rule);
  json["function"] = c.original;
  json["bound"] = c.bound;
  json["processes"] = c.processes;
  json["sizes"] = c.left.size == c.right.size ? Json{c.left.size} : Json{c.left.size, c.right.size};
  json["left"] = side_json(c.left, medians);
  json["right"] = side_json(c.right, medians);
  json["ratio"] = number(c.ratio.estimate);
  json["ratio_low"] = number(c.ratio.low);
  json["ratio_high"] = number(c.ratio.high);
  json["cliffs_delta"] = optional(c.delta);
  json["p"] = optional(c.p);
  json["q"] = optional(c.q);
  json["stars"] = mark(c);
  json["verdict"] = name(c.verdict);
  json["reason"] = c.reason;
  json["confirmed"] = optional(c.confirmed);
  json["simulated_ratio"] = optional(c.simulated_ratio);
  json["simulated"] = c.simulated ? Json(name(*c.simulated)) : Json();
  return json;
}

Json rate_json(const Rate& rate) {
  return {{"hits", rate.hits}, {"of", rate.of}, {"low", rate.low}, {"high", rate.high}};
}

Json judging_json(const Judging& judging) {
  constexpr const char* kMethods[] = {"rank-sum", "rank-sum-normal", "ks", "signed-rank"};
  constexpr const char* kCorrections[] = {"none", "bh", "by", "holm"};
  return {{"alpha", judging.alpha},
          {"least_ratio", judging.least_ratio},
          {"split_factor", judging.split_factor},
          {"method", kMethods[static_cast<int>(judging.method)]},
          {"correction", kCorrections[static_cast<int>(judging.correction)]},
          {"without_copies", judging.without_copies}};
}

Json application_json(const ApplicationGains& application) {
  Json json{{"calls", application.calls},
            {"uncovered_calls", application.uncovered},
            {"measured_s", application.measured_seconds},
            {"gain_s", application.seconds},
            {"gains", Json::array()}};
  for (const Gain& gain : application.gains) {
    const Comparison& c = *gain.violation;
    json["gains"].push_back({{"guideline", title(c)},
                             {"type", name(c.rule)},
                             {"processes", c.processes},
                             {"size", c.left.size},
                             {"calls", gain.calls},
                             {"gain_s", gain.seconds}});
  }
  return json;
}

}  // namespace

std::string analysis_json(const Analysis& analysis, const Context& context, bool all) {
  Json json;
  json["schema"] = kViolationsSchema;
  json["source"] = context.source;
  json["settings"] = analysis.settings;
  json["judging"] = judging_json(analysis.judging);
  json["simulated_only"] = analysis.simulated_only;
  json["family"] = analysis.family;
  json["fewest_mpiruns"] = analysis.fewest_runs;
  json["mpiruns_needed"] = analysis.runs_needed;
  json["unmeasured_guidelines"] = analysis.unmeasured;
  json["other_tests"] = analysis.strangers;
  json["null_hits"] = rate_json(analysis.null_hits);
  json["null_violations"] = rate_json(analysis.null_violations);
  json["simulated_agreement"] = {{"agreeing", analysis.agreeing},
                                 {"of", analysis.compared},
                                 {"only_measured", analysis.only_measured},
                                 {"only_simulated", analysis.only_simulated}};
  json["notes"] = analysis.notes;
  json["violations"] = Json::array();
  for (const Comparison& c : analysis.comparisons)
    if (c.verdict == Verdict::kViolated) json["violations"].push_back(comparison_json(c, false));
  if (context.application != nullptr) json["application"] = application_json(*context.application);
  if (all) {
    json["comparisons"] = Json::array();
    for (const Comparison& c : analysis.comparisons) json["comparisons"].push_back(comparison_json(c, true));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nplus1::guidelines
