#include "analyses/guidelines/judge.hpp"

#include <algorithm>

#include "events/recording/reader.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace {

/// The split rule compares medians without a test: it has to be confirmed.
bool stands(const guidelines::Comparison& c) {
  const bool tested = c.rule != guidelines::Rule::kSplit;
  return c.verdict == guidelines::Verdict::kViolated && c.confirmed.value_or(tested);
}

void weigh(const std::string& application, JudgedGuidelines& judged) {
  auto reader = need(events::recording::Reader::open(application));
  guidelines::CallCounter counter;
  const auto coverage = need(reader.read(counter));
  if (!coverage.complete) judged.coverage = coverage.text();
  judged.gains = guidelines::gains_of(*judged.analysis, counter.calls());
}

}  // namespace

bool JudgedGuidelines::violated() const {
  return std::any_of(analysis->comparisons.begin(), analysis->comparisons.end(), stands);
}

JudgedGuidelines judge_guidelines(const JudgingOptions& options) {
  const guidelines::Catalogue catalogue = catalogue_of(options.catalogue, options.source);
  const auto data = need(guidelines::read_data(options.source, catalogue, options.filter, options.processes));
  JudgedGuidelines judged;
  judged.analysis = std::make_shared<const guidelines::Analysis>(analyse(catalogue, data, options.judging));
  if (!options.application.empty()) weigh(options.application, judged);
  return judged;
}

}  // namespace nplus1::analyses
