// A folder that goes with its test, and damage to files.
#pragma once

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

namespace nplus1::tests {

class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "nplus1-exchange-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string contents(const std::filesystem::path& file) {
  std::ifstream stream{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

/// Cuts, flips a few bits, doubles or drops a part.
inline std::string mutate(std::string bytes, std::mt19937_64& random) {
  if (bytes.empty()) return bytes;
  const auto place = [&] { return random() % bytes.size(); };
  const std::size_t at = place();
  switch (random() % 4) {
    case 0:
      return bytes.substr(0, at);
    case 1:
      return bytes.erase(at, 1 + random() % 40);
    case 2:
      return bytes.insert(at, bytes.substr(place(), 1 + random() % 40));
    default:
      for (auto flips = 1 + random() % 8; flips > 0; --flips)
        bytes[place()] ^= static_cast<char>(1U << (random() % 8));
      return bytes;
  }
}

}  // namespace nplus1::tests
