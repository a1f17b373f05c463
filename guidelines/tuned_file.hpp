// How a profile stands at the end of a library's file: its text, a line of its length, and a line that says
// so. Pure; used by whoever appends and by the library itself.
#pragma once

#include <cstddef>
#include <string>

namespace nplus1::guidelines {

inline constexpr const char* kTunedMark = "# nplus1 guidelines profile\n";

/// `library`, the bytes of a file, with the profile behind it.
[[nodiscard]] inline std::string with_profile(const std::string& library, const std::string& profile) {
  std::string length = std::to_string(profile.size());
  length.insert(0, 19 - length.size(), '0');
  return library + profile + length + '\n' + kTunedMark;
}

/// What with_profile() appended; empty if nothing, or if it is damaged.
[[nodiscard]] inline std::string appended_profile(const std::string& library) {
  constexpr std::size_t kLength = 20;
  const std::string mark = kTunedMark;
  if (library.size() < mark.size() + kLength) return {};
  const std::size_t end = library.size() - mark.size() - kLength;
  if (library.compare(library.size() - mark.size(), mark.size(), mark) != 0) return {};
  std::size_t length = 0;
  for (std::size_t i = end; i < end + kLength - 1; ++i) {
    if (library[i] < '0' || library[i] > '9') return {};
    length = 10 * length + static_cast<std::size_t>(library[i] - '0');
  }
  return length > end ? std::string{} : library.substr(end - length, length);
}

}  // namespace nplus1::guidelines
