// A folder of its own for a test, gone afterwards. Not part of the product, and not named like it: tests look for what that
// leaves behind.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace nplus1::events::recording {

class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& in = std::filesystem::temp_directory_path()) {
    std::string name = (in / "scratch-of-a-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"cannot create " + name};
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace nplus1::events::recording
