#include "events/frame_text.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

namespace nplus1::events {
namespace {

constexpr std::string_view kPython = "python:";

/// Up to `divider` (0: all), which is taken away; without the escapes.
std::string unescaped(std::string_view& text, char divider) {
  std::string plain;
  std::size_t i = 0;
  for (; i < text.size() && (divider == '\0' || text[i] != divider); ++i)
    if (text[i] != '\\' || i + 1 == text.size())
      plain += text[i];
    else
      plain += text[++i] == 'n' ? '\n' : text[i];
  text.remove_prefix(std::min(i + 1, text.size()));
  return plain;
}

/// "python:12:solve:/home/u/solver.py"; nothing if it is not of that form.
std::optional<Frame> frame_of_python(std::string_view text) {
  if (text.substr(0, kPython.size()) != kPython) return std::nullopt;
  text.remove_prefix(kPython.size());
  Frame frame;
  const auto [behind, error] = std::from_chars(text.data(), text.data() + text.size(), frame.line);
  if (error != std::errc{} || behind == text.data() + text.size() || *behind != ':') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(behind - text.data()) + 1);
  frame.function = unescaped(text, ':');
  frame.file = unescaped(text, '\0');
  return frame;
}

/// The frame in `text`, whose last line begins at `last`; nothing if no frame ends there.
std::optional<Frame> frame_of(std::string_view text, std::size_t last) {
  if (text == "?") return Frame{};
  if (last == 0)
    if (std::optional<Frame> frame = frame_of_python(text)) return frame;
  const std::size_t plus = text.substr(last).rfind("+0x");  // in the last line alone: a text may have many
  if (plus == std::string_view::npos) return std::nullopt;
  Frame frame;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data() + last + plus + 3, end, frame.offset, 16);
  if (error != std::errc{} || (behind != end && *behind != ' ')) return std::nullopt;
  frame.module = text.substr(0, last + plus);
  if (behind != end) frame.build_id = std::string{behind + 1, end};
  return frame;
}

}  // namespace

std::vector<Frame> frames_of(std::string_view text) {
  std::vector<Frame> frames;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::optional<Frame> frame = frame_of(text.substr(0, end), 0);
    while (!frame && end < text.size()) {
      const std::size_t last = end + 1;
      end = std::min(text.find('\n', last), text.size());
      frame = frame_of(text.substr(0, end), last);
    }
    frames.push_back(std::move(frame).value_or(Frame{}));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return frames;
}

}  // namespace nplus1::events
