// report.html: one file that shows a run and needs no network. The documents (docs/formats/) are put into the
// page as they are; all drawing is done by the scripts in report/html/app. Pure functions of their input, but
// for write_report(); callable from any thread.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "report/files.hpp"

namespace nplus1::report::html {

/// A document for the page: "patterns" (required), "summary" or "timeline", and its JSON text, which must be
/// valid.
struct Document {
  std::string_view name;
  std::string_view json;
};

/// The page. Documents of more than 1 MiB are compressed (deflate), the others can be read in the file.
[[nodiscard]] std::string page(std::string_view title, std::span<const Document> documents);

/// `json` without the member `key` of its top level, for documents that say twice what is large. Text that is
/// no JSON object is returned as it is.
[[nodiscard]] std::string without_member(std::string_view json, std::string_view key);

/// Writes the page to `path`: all of it, or nothing (report/files.hpp).
[[nodiscard]] Result<Done> write_report(const std::filesystem::path& path, std::string_view title,
                                        std::span<const Document> documents);

}  // namespace nplus1::report::html
