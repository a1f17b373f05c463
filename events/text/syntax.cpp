#include "events/text/syntax.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

namespace nplus1::events::text {
namespace {

using nlohmann::json;
constexpr std::size_t kLongestLine = std::size_t{256} << 20;  // a communicator of 2^24 members

bool is_number(const std::string& cell) {
  return std::all_of(cell.begin(), cell.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0 || c == '-'; });
}

void append_csv_cell(const std::string& cell, std::string& text) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) {
    text += cell;
    return;
  }
  text += '"';
  for (const char c : cell) text.append(c == '"' ? 2 : 1, c);
  text += '"';
}

void append_json_list(const std::string& cell, std::string& text) {
  text += '[';
  for (const char c : cell) text += c == ' ' ? ',' : c;
  text += ']';
}

void append_json_cell(const std::string& cell, CellType type, std::string& text) {
  if (type == CellType::kList) return append_json_list(cell, text);
  const bool raw =
      type == CellType::kNumber || type == CellType::kFrames || (type == CellType::kWord && is_number(cell));
  text += raw ? cell : json(cell).dump(-1, ' ', false, json::error_handler_t::replace);
}

void append_csv(const Row& row, std::string& text) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i != 0) text += ',';
    append_csv_cell(row[i], text);
  }
}

void append_json(const Row& row, std::string& text) {
  text += '{';
  bool first = true;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i].empty()) continue;
    if (!first) text += ',';
    first = false;
    text.append(1, '"').append(columns()[i].name).append("\":");
    append_json_cell(row[i], columns()[i].type, text);
  }
  text += '}';
}

class CsvReader final : public RowReader {
 public:
  explicit CsvReader(std::FILE* file) : RowReader{file} {}

  bool next(Row& row) override {
    if (order_.empty() && !read_heading()) return false;
    if (!read_record()) return false;
    if (cells_.size() != order_.size())
      return fail(std::to_string(cells_.size()) + " cells instead of " + std::to_string(order_.size()));
    row.assign(columns().size(), {});
    for (std::size_t i = 0; i < order_.size(); ++i) row[order_[i]].swap(cells_[i]);
    return true;
  }

 private:
  bool read_heading() {
    if (!read_record()) return trouble() ? false : fail("the file is empty");
    for (const std::string& cell : cells_) {
      const auto place = column_named(cell);
      if (!place) return fail("there is no column \"" + cell.substr(0, 60) + "\"");
      if (std::find(order_.begin(), order_.end(), *place) != order_.end())
        return fail("column \"" + cell + "\" comes twice");
      order_.push_back(*place);
    }
    return true;
  }

  /// Whether what is within quotes and what is not change places behind the line.
  static bool has_odd_quotes(const std::string& line) {
    return std::count(line.begin(), line.end(), '"') % 2 != 0;
  }

  /// A record may go on over lines within quotes.
  bool read_record() {
    cells_.clear();
    if (!get_line(line_)) return false;
    bool open = has_odd_quotes(line_);
    for (std::string more; open;) {
      if (!get_line(more)) return trouble() ? false : fail("a quotation that does not end");
      line_.append(1, '\n').append(more);
      open = !has_odd_quotes(more);
    }
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    return split();
  }

  bool split() {
    std::string cell;
    bool quoted = false;
    for (std::size_t i = 0; i < line_.size(); ++i) {
      const char c = line_[i];
      if (c == '"') {
        const bool doubled = quoted && i + 1 < line_.size() && line_[i + 1] == '"';
        if (doubled)
          cell += line_[i++];
        else
          quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells_.push_back(std::move(cell));
        cell.clear();
      } else {
        cell += c;
      }
    }
    cells_.push_back(std::move(cell));
    return true;
  }

  std::string line_;
  std::vector<std::string> cells_;
  std::vector<std::size_t> order_;
};

class JsonReader final : public RowReader {
 public:
  explicit JsonReader(std::FILE* file) : RowReader{file} {}

  bool next(Row& row) override {
    do {
      if (!get_line(line_)) return false;
    } while (line_.find_first_not_of(" \t\r") == std::string::npos);
    return parse(row);
  }

 private:
  bool parse(Row& row) {
    bool deep = false;
    // A frame's value is at depth 3; what is deeper is not ours and may be deep enough to hurt.
    const auto shallow = [&deep](int depth, json::parse_event_t, json&) {
      return !(deep = deep || depth > 3);
    };
    const json object = json::parse(line_, shallow, false);
    if (deep || !object.is_object()) return fail("not a JSON object as this format has them");
    row.assign(columns().size(), {});
    for (const auto& [key, value] : object.items()) {
      const auto place = column_named(key);
      if (!place) return fail("there is no key \"" + key.substr(0, 60) + "\"");
      if (!take(value, columns()[*place], row[*place]))
        return fail("the value of \"" + key + "\" has the wrong type");
    }
    return true;
  }

  static bool take(const json& value, const Column& column, std::string& cell) {
    switch (column.type) {
      case CellType::kText:
        return value.is_string() && (cell = value.get<std::string>(), true);
      case CellType::kWord:
        if (value.is_string()) return cell = value.get<std::string>(), true;
        [[fallthrough]];
      case CellType::kNumber:
        return value.is_number_integer() && (cell = value.dump(), true);
      case CellType::kFrames:
        return value.is_array() && (cell = value.dump(), true);
      case CellType::kList:
        return value.is_array() && take_list(value, cell);
    }
    return false;
  }

  static bool take_list(const json& list, std::string& cell) {
    for (const json& value : list) {
      if (!value.is_number_integer()) return false;
      if (!cell.empty()) cell += ' ';
      cell += value.dump();
    }
    return true;
  }

  std::string line_;
};

}  // namespace

std::string heading(Syntax syntax) {
  if (syntax == Syntax::kJsonLines) return {};
  std::string line;
  for (const Column& column : columns()) line.append(line.empty() ? 0 : 1, ',').append(column.name);
  return line + "\n";
}

void append_row(const Row& row, Syntax syntax, std::string& text) {
  syntax == Syntax::kCsv ? append_csv(row, text) : append_json(row, text);
  text += '\n';
}

bool RowReader::get_line(std::string& line) {
  line.clear();
  ++line_;
  int c;
  while ((c = getc_unlocked(file_)) != EOF && c != '\n') {
    line.push_back(static_cast<char>(c));
    if (line.size() > kLongestLine) return fail("the line is too long");
  }
  if (c == EOF && std::ferror(file_) != 0) return fail(std::strerror(errno));
  // Every line ends in a line feed: one that does not was cut.
  if (c == EOF && !line.empty()) return fail("the file ends within a line");
  return c != EOF;
}

std::unique_ptr<RowReader> read_rows(std::FILE* file, Syntax syntax) {
  if (syntax == Syntax::kCsv) return std::make_unique<CsvReader>(file);
  return std::make_unique<JsonReader>(file);
}

}  // namespace nplus1::events::text
