#include "cli/fail_if.hpp"

#include <fmt/core.h>

#include "cli/failure.hpp"
#include "cli/to_stderr.hpp"

namespace nplus1::cli {

void declare_fail_if(CLI::App& verb, std::vector<std::string>& texts) {
  verb.add_option("--fail-if", texts,
                  "Exit code 2 if this holds, e.g. 'parallel_efficiency<0.8'; may be repeated")
      ->type_name("METRIC<NUMBER")
      ->expected(1)
      ->take_all();
}

std::vector<hypothesis::Condition> conditions_of(const std::vector<std::string>& texts,
                                                 const std::vector<std::string>& metrics) {
  std::vector<hypothesis::Condition> conditions;
  for (const std::string& text : texts) {
    auto condition = hypothesis::parse_condition(text, metrics);
    if (!condition)
      throw Failure{ExitCode::kUsage, condition.error().what, "nothing was done", condition.error().remedy};
    conditions.push_back(std::move(condition).value());
  }
  return conditions;
}

int judge(const std::vector<hypothesis::Condition>& conditions, const hypothesis::Side& side) {
  ExitCode code = ExitCode::kOk;
  for (const hypothesis::Condition& condition : conditions) {
    const auto holds = condition.holds(side);
    if (holds == false) continue;
    code = ExitCode::kLimit;
    if (holds)
      to_stderr("nplus1: {}: it is {:.6g}\n", condition.text, *side.metric(condition.metric));
    else
      to_stderr("nplus1: {}: not known\n", condition.text);
  }
  return static_cast<int>(code);
}

}  // namespace nplus1::cli
