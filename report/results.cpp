#include "report/results.hpp"

#include <cstdlib>
#include <string_view>

namespace nplus1::report {

bool unicode_locale() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale{value};
    return locale.find("UTF-8") != std::string_view::npos || locale.find("utf8") != std::string_view::npos;
  }
  return false;
}

std::string matrix_csv(const RankMatrix& matrix) {
  std::string text;
  for (std::size_t from = 0; from < matrix.ranks(); ++from) {
    const char* separator = "";
    for (const std::uint64_t amount : matrix.row(RankId{static_cast<std::int32_t>(from)})) {
      text += separator + std::to_string(amount);
      separator = ",";
    }
    text += '\n';
  }
  return text;
}

Result<Done> write_results(const std::filesystem::path& folder, const RunSummary& summary, TextStyle style) {
  Result<Done> outcome = Done{};
  const auto write = [&](const char* name, const std::string& contents) {
    auto written = write_file(folder / name, contents);
    if (!written && outcome) outcome = std::move(written);
  };
  write("messages.csv", matrix_csv(summary.messages));
  write("bytes.csv", matrix_csv(summary.bytes));
  write("summary.json", summary_json(summary));
  write("summary.txt", summary_text(summary, folder.string(), style));
  return outcome;
}

}  // namespace nplus1::report
