// A temporary folder that goes away with all that is in it. Throws Stopped where none can be made.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "support/stopped.hpp"

namespace nplus1::analyses {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    const std::filesystem::path in = std::filesystem::temp_directory_path(error);
    std::string name = (in / "nplus1-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr)
      throw Stopped{{"no temporary folder can be made", "set TMPDIR to a folder with room", Fault::kOutput}};
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

}  // namespace nplus1::analyses
