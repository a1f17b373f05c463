// How a Row is written down: as a line of CSV (RFC 4180) or as a JSON object. One thread.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "events/text/row.hpp"
#include "events/text/text.hpp"

namespace nplus1::events::text {

/// The line that comes before all rows: CSV's names of the columns; empty for JSON lines.
[[nodiscard]] std::string heading(Syntax syntax);

/// Appends the row and a line feed.
void append_row(const Row& row, Syntax syntax, std::string& text);

/// Takes rows out of a stream, one after another.
class RowReader {
 public:
  virtual ~RowReader() = default;
  /// False at the end of the stream, or when trouble() has something to say.
  virtual bool next(Row& row) = 0;
  /// From 1.
  [[nodiscard]] std::uint64_t line() const { return line_; }
  [[nodiscard]] const std::optional<std::string>& trouble() const { return trouble_; }

 protected:
  explicit RowReader(std::FILE* file) : file_{file} {}
  bool get_line(std::string& line);
  bool fail(std::string why) {
    trouble_ = std::move(why);
    return false;
  }

 private:
  std::FILE* file_;
  std::uint64_t line_ = 0;
  std::optional<std::string> trouble_;
};

[[nodiscard]] std::unique_ptr<RowReader> read_rows(std::FILE* file, Syntax syntax);

}  // namespace nplus1::events::text
