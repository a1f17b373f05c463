#include "cli/run/findings.hpp"

#include <fmt/format.h>

#include <chrono>

#include "analyses/findings.hpp"
#include "cli/run/findings_text.hpp"
#include "report/html/html_report.hpp"
#include "support/processes/children.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;

std::string add_findings(const fs::path& folder, double seconds, bool keep_fixes) {
  const auto find = [&](std::size_t) -> Result<std::string> {
    const auto found = analyses::add_findings_to_page(folder.string(), seconds, keep_fixes);
    if (!found) return found.error();
    return trouble_text(found.value()) + fixes_text(found.value(), folder.string());
  };
  const fs::path report = folder / report::html::kReportFile;
  std::error_code none;
  const auto without = fs::last_write_time(report, none);
  const auto found = processes::in_children(1, {.limit = std::chrono::duration<double>(seconds)}, find);
  if (found) return found.value().front();
  for (const auto& entry : fs::directory_iterator{folder})  // what it was writing
    if (entry.path().filename().string().find(".part-") != std::string::npos) fs::remove(entry.path());
  return fmt::format(
      "nplus1: report.html lacks {}what to fix: {}\n  next: nplus1 report {}, which takes its time\n",
      fs::last_write_time(report, none) == without ? "wait states and " : "", found.error().what,
      folder.string());
}

}  // namespace nplus1::cli
