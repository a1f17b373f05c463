// Text for a terminal under construction, and numbers as people read them. Not thread-safe; never fails.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "report/results.hpp"

namespace nplus1::report {

/// Line by line; spaces at a line's end are dropped.
class Page {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...);
    text_.resize(text_.find_last_not_of(' ') + 1);
    text_ += '\n';
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// "11.88 MiB": four significant digits, powers of 1024.
[[nodiscard]] std::string readable_bytes(double value);

/// Characters on the screen: UTF-8 continuation bytes don't count.
[[nodiscard]] std::size_t display_width(const std::string& text);

/// A bar of `part` (0 to 1) of `width` characters.
[[nodiscard]] std::string bar(double part, std::size_t width, TextStyle style);

}  // namespace nplus1::report
