// A temporary folder that goes away with all that is in it. Throws Failure where none can be made.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "cli/failure.hpp"

namespace nplus1::cli {

class ScratchFolder {
 public:
  /// `consequence`: what has not been done then.
  explicit ScratchFolder(const char* consequence) {
    std::error_code error;
    const std::filesystem::path in = std::filesystem::temp_directory_path(error);
    std::string name = (in / "nplus1-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr)
      throw Failure{ExitCode::kCantCreate, "no temporary folder can be made", consequence,
                    "set TMPDIR to a folder with room"};
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

}  // namespace nplus1::cli
