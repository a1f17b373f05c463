// report.html: one file that shows a run and needs no network. The documents (docs/formats/) are put into the
// page as they are; all drawing is done by the scripts in report/html/app. Pure functions of their input, but
// for write_report(); callable from any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/files.hpp"

namespace nplus1::report::html {

inline constexpr const char* kReportFile = "report.html";  // in the result folder

/// The JSON texts to show, all valid, by name: of a run (then "patterns" is required: patterns.json), "summary", "timeline",
/// "sweep" (nplus1 replay --sweep), "waitstates", "whatif" ("timeline" is the one before, "after" the one after), "fixes"
/// (nplus1 whatif --sweep), "collectives", "overlap", "links", "clock"; or "guidelines" alone. A module of the page
/// (report/html/app) finds its document by the name. The texts are not copied.
class Documents {
 public:
  /// Empty ones are left out.
  void add(std::string_view name, std::string_view json) {
    if (!json.empty()) all_.emplace_back(name, json);
  }
  [[nodiscard]] const std::vector<std::pair<std::string_view, std::string_view>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string_view, std::string_view>> all_;
};

/// The page. Documents of more than 1 MiB are compressed (deflate), the others can be read in the file. The
/// summary's matrices are left out: the patterns have them.
[[nodiscard]] std::string page(std::string_view title, const Documents& documents);

/// `json` without the member `key` of its top level. Text that is no JSON object is returned as it is.
[[nodiscard]] std::string without_member(std::string_view json, std::string_view key);

/// Whether `text` is a JSON object whose `schema` is that one ("nplus1-timeline/1") or an older one; `name`
/// is what messages call it.
[[nodiscard]] Result<Done> check_document(std::string_view text, std::string_view schema,
                                          const std::string& name);

/// Writes the page to `path`: all of it, or nothing (report/files.hpp).
[[nodiscard]] Result<Done> write_report(const std::filesystem::path& path, std::string_view title,
                                        const Documents& documents);

}  // namespace nplus1::report::html
