#include "patterns/result_folder.hpp"

#include "patterns/links.hpp"
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
  report::RunSummary told = summary;
  if (observed) {
    const std::string patterns = patterns_json(observed->patterns);
    note(report::write_file(folder / kPatternsFile, patterns));
    note(report::write_file(folder / kTimelineFile, observed->timeline));
    std::string links;
    if (observed->links) {
      links = links_json(*observed->links, observed->patterns);
      told.links = links_text(*observed->links, observed->patterns);
      note(report::write_file(folder / kLinksFile, links));
      note(report::write_file(folder / kLinksTable, links_csv(*observed->links)));
    }
    const std::string summary_text = report::summary_json(summary);
    report::html::Documents documents;
    documents.add("patterns", patterns);
    documents.add("summary", summary_text);
    documents.add("timeline", observed->timeline);
    documents.add("links", links);
    for (const auto& [name, json] : observed->documents) {
      documents.add(name, json);
      note(report::write_file(folder / (name + ".json"), json));
    }
    note(report::html::write_report(folder / report::html::kReportFile, summary.application, documents));
  }
  note(report::write_results(folder, told, {report::unicode_locale()}));
  return first;
}

}  // namespace nplus1::patterns
