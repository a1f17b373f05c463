#include "overlap/patch/unified_diff.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace nplus1::overlap::patch {
namespace {

constexpr std::size_t kContext = 3;

std::vector<Edit> in_order(std::vector<Edit> edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  return edits;
}

/// The lines of a text, each with its line end.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

/// Old lines [begin, end), counted from 0, become `lines`.
struct Change {
  std::size_t begin;
  std::size_t end;
  std::string text;
};

/// Edits that share lines are one change; each covers whole lines.
std::vector<Change> changes_of(const Source& source, const std::vector<Edit>& edits) {
  std::vector<Change> changes;
  const auto line = [&](std::size_t offset) { return static_cast<std::size_t>(source.line_of(offset)) - 1; };
  std::size_t done = 0;  // bytes of the source that the last change's text already has
  for (const Edit& edit : edits) {
    const std::size_t first = line(edit.begin);
    if (changes.empty() || first >= changes.back().end) {
      if (!changes.empty())
        changes.back().text +=
            source.text(done, source.begin_of_line(static_cast<int>(changes.back().end) + 1));
      changes.push_back({first, first + 1, ""});
      done = source.begin_of_line(static_cast<int>(first) + 1);
    }
    Change& change = changes.back();
    change.text += source.text(done, edit.begin);
    change.text += edit.text;
    done = edit.end;
    change.end = std::max(change.end, line(edit.end) + 1);
  }
  if (!changes.empty())
    changes.back().text += source.text(done, source.begin_of_line(static_cast<int>(changes.back().end) + 1));
  return changes;
}

/// Without the lines that are the same at both ends.
void trim(Change& change, const std::vector<std::string_view>& old_lines) {
  std::vector<std::string_view> fresh = lines_of(change.text);
  while (change.begin < change.end && !fresh.empty() && fresh.front() == old_lines[change.begin]) {
    fresh.erase(fresh.begin());
    ++change.begin;
  }
  while (change.begin < change.end && !fresh.empty() && fresh.back() == old_lines[change.end - 1]) {
    fresh.pop_back();
    --change.end;
  }
  std::string text;
  for (const auto line : fresh) text += line;
  change.text = text;
}

void print(std::string& out, char sign, std::string_view line) {
  out += sign;
  out += line;
  if (line.back() != '\n') out += "\n\\ No newline at end of file\n";
}

class Hunks {
 public:
  explicit Hunks(const std::vector<std::string_view>& lines) : lines_{lines} {}

  void add(const Change& change) {
    if (open_ && change.begin > end_ + 2 * kContext) close();
    if (!open_) {
      open_ = true;
      begin_ = end_ = change.begin - std::min(change.begin, kContext);
      body_.clear();
      added_ = removed_ = 0;
    }
    context_to(change.begin);
    for (; end_ < change.end; ++end_, ++removed_) print(body_, '-', lines_[end_]);
    for (const auto line : lines_of(change.text)) {
      print(body_, '+', line);
      ++added_;
    }
  }

  std::string close() {
    if (!open_) return std::move(text_);
    context_to(std::min(end_ + kContext, lines_.size()));
    const std::size_t old_count = end_ - begin_;
    const std::size_t new_count = old_count + added_ - removed_;
    text_ += "@@ -" + range(begin_, old_count) + " +" + range(begin_ + shift_, new_count) + " @@\n" + body_;
    shift_ += added_ - removed_;
    open_ = false;
    return text_;
  }

 private:
  static std::string range(std::size_t begin, std::size_t count) {
    return std::to_string(count == 0 ? begin : begin + 1) + "," + std::to_string(count);
  }

  void context_to(std::size_t line) {
    for (; end_ < line; ++end_) print(body_, ' ', lines_[end_]);
  }

  const std::vector<std::string_view>& lines_;
  std::string text_;
  std::string body_;
  bool open_ = false;
  std::size_t begin_ = 0;  // the open hunk: old lines [begin_, end_)
  std::size_t end_ = 0;
  std::size_t added_ = 0;
  std::size_t removed_ = 0;
  std::size_t shift_ = 0;  // of new lines against old ones, modulo its type
};

}  // namespace

bool overlap(std::vector<Edit> edits) {
  edits = in_order(std::move(edits));
  for (std::size_t i = 1; i < edits.size(); ++i)
    if (edits[i].begin < edits[i - 1].end) return true;
  return false;
}

std::string applied(const Source& source, std::vector<Edit> edits) {
  if (overlap(edits)) throw std::logic_error{"edits overlap"};
  std::string text;
  std::size_t done = 0;
  for (const Edit& edit : in_order(std::move(edits))) {
    text += source.text(done, edit.begin);
    text += edit.text;
    done = edit.end;
  }
  text += source.text(done, source.text().size());
  return text;
}

std::string unified_diff(const Source& source, std::vector<Edit> edits, const std::string& path) {
  if (overlap(edits)) throw std::logic_error{"edits overlap"};
  const std::vector<std::string_view> lines = lines_of(source.text());
  Hunks hunks{lines};
  for (Change& change : changes_of(source, in_order(std::move(edits)))) {
    trim(change, lines);
    if (change.begin < change.end || !change.text.empty()) hunks.add(change);
  }
  const std::string body = hunks.close();
  return body.empty() ? "" : "--- a/" + path + "\n+++ b/" + path + "\n" + body;
}

}  // namespace nplus1::overlap::patch
