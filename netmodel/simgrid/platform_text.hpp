// The text of a platform file, beyond what SimGrid keeps of it: in which line something stands, and what elements say before
// SimGrid makes anything of them. Any text will do; the work is in proportion to it. No SimGrid, one thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/result.hpp"

namespace nplus1::netmodel {

/// The beginning of an element.
struct PlatformElement {
  int line = 0;
  std::vector<std::pair<std::string, std::string>> attributes;
  /// Empty where there is none.
  [[nodiscard]] std::string attribute(std::string_view name) const;
};

class PlatformText {
 public:
  static constexpr int kNoLine = 0;

  explicit PlatformText(const std::string& path);
  PlatformText(std::string path, std::string text);

  /// The first line with `word`; kNoLine without.
  [[nodiscard]] int line_of(std::string_view word) const;
  /// Where a link is declared of which SimGrid tells no line: by its own name, that of both halves of a split duplex, or the
  /// name of the cluster whose link it is.
  [[nodiscard]] int line_of_link(std::string name) const;
  /// Those of that name, comments apart.
  [[nodiscard]] std::vector<PlatformElement> elements(std::string_view name) const;
  [[nodiscard]] Error error(int line, const std::string& what) const;

 private:
  std::string path_;
  std::string text_;
};

/// First and last of each range of a radical such as "0-3,8". As doubles: whoever writes a number of twenty digits is told of
/// its size, too.
[[nodiscard]] std::vector<std::pair<double, double>> ranges_of(std::string_view radical);
/// What the numbers of a list "4,1;2,1;4" multiply to, for each part or for all together.
[[nodiscard]] double largest_product(std::string_view parameters, bool each_part);

}  // namespace nplus1::netmodel
