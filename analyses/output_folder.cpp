#include "analyses/output_folder.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace fs = std::filesystem;
namespace {

constexpr int kMostFolders = 1000000;

fs::path name(const std::string& application, int ranks, int k) {
  return fs::absolute(fmt::format("nplus1-{}-{}-{}", application, ranks, k));
}

[[noreturn]] void refuse(const fs::path& path, const std::string& why, const std::string& next) {
  throw Stopped{{fmt::format("output folder {}: {}", path.string(), why), next, Fault::kOutput}};
}

/// Exclusive: false when something of that name is there already.
bool make(const fs::path& path) {
  if (mkdir(path.c_str(), 0777) == 0) return true;
  if (errno == EEXIST) return false;
  refuse(path, std::strerror(errno), "choose a writable place with -o DIR");
}

}  // namespace

Result<OutputFolder> OutputFolder::next(const std::string& application, int ranks) {
  return attempt([&]() -> OutputFolder {
    for (int k = 1; k < kMostFolders; ++k) {
      const fs::path path = name(application, ranks, k);
      if (make(path)) return {path, true};
    }
    refuse(name(application, ranks, kMostFolders), "a million older results are in the way", "use -o DIR");
  });
}

Result<OutputFolder> OutputFolder::at(const fs::path& wanted) {
  return attempt([&]() -> OutputFolder {
    const fs::path normal = fs::absolute(wanted).lexically_normal();
    const fs::path path = normal.has_filename() ? normal : normal.parent_path();
    std::error_code unmade;
    fs::create_directories(path.parent_path(), unmade);  // make() says what is wrong there
    if (make(path)) return {path, true};
    std::error_code error;
    if (!fs::is_directory(path, error))
      refuse(path, "a file of that name exists", "choose another name with -o");
    const bool empty = fs::is_empty(path, error);
    if (error) refuse(path, error.message(), "choose a folder that you can read and write with -o");
    if (!empty)
      refuse(path, "it is not empty, and results are never overwritten", "choose a new folder with -o");
    if (access(path.c_str(), W_OK | X_OK) != 0)
      refuse(path, std::strerror(errno), "choose a writable place with -o");
    return {path, false};
  });
}

void OutputFolder::remove_if_empty() const {
  if (made_) rmdir(path_.c_str());  // fails, rightly, when something is in it
}

fs::path preview_next(const std::string& application, int ranks) {
  std::error_code error;
  for (int k = 1;; ++k) {
    fs::path path = name(application, ranks, k);
    if (!fs::exists(fs::symlink_status(path, error)) || k == kMostFolders) return path;
  }
}

}  // namespace nplus1::analyses
