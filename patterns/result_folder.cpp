#include "patterns/result_folder.hpp"

#include "patterns/patterns_json.hpp"
#include "patterns/timeline.hpp"
#include "report/html/html_report.hpp"

namespace nplus1::patterns {

Result<report::Done> write_result_folder(const std::filesystem::path& folder,
                                         const report::RunSummary& summary,
                                         const std::optional<Observed>& observed) {
  Result<report::Done> first = report::Done{};
  const auto note = [&first](Result<report::Done> written) {
    if (first && !written) first = std::move(written);
  };
  if (observed) {
    const std::string patterns = patterns_json(observed->patterns);
    note(report::write_file(folder / kPatternsFile, patterns));
    note(report::write_file(folder / kTimelineFile, observed->timeline));
    note(report::html::write_report(folder / report::html::kReportFile, summary.application,
                                    {patterns, report::summary_json(summary), observed->timeline}));
  }
  note(report::write_results(folder, summary, {report::unicode_locale()}));
  return first;
}

}  // namespace nplus1::patterns
