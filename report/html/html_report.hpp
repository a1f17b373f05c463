// report.html: one file that shows a run and needs no network. The documents (docs/formats/) are put into the
// page as they are; all drawing is done by the scripts in report/html/app. Pure functions of their input, but
// for write_report(); callable from any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "report/files.hpp"

namespace nplus1::report::html {

inline constexpr const char* kReportFile = "report.html";  // in the result folder

/// The JSON texts to show, all valid: of a run (then the patterns are required), or of the guidelines alone.
struct Documents {
  std::string_view patterns = {};
  std::string_view summary = {};
  std::string_view timeline = {};
  std::string_view sweep = {};        // of `nplus1 replay --sweep`
  std::string_view waitstates = {};   // of `nplus1 waitstates`
  std::string_view whatif = {};       // of `nplus1 whatif`; `timeline` is the one before
  std::string_view after = {};        // and this the timeline after
  std::string_view fixes = {};        // of `nplus1 whatif --sweep`
  std::string_view guidelines = {};   // of `nplus1 guidelines check`
  std::string_view collectives = {};  // of `nplus1 collectives`
  std::string_view overlap = {};      // of `nplus1 overlap`
  std::string_view links = {};        // of a run or replay on a platform
  std::string_view clock = {};        // of `nplus1 clock`: the interval of the virtual time
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
