// The result folder of a run: a new one each time, never over an older one.
#pragma once

#include <filesystem>
#include <string>

#include "support/result.hpp"

namespace nplus1::analyses {

/// A folder that was made for this run. remove_if_empty() takes it back when nothing came of the run.
class OutputFolder {
 public:
  /// Makes `nplus1-APP-RANKS-K/` in the current folder, K being the first free number. Two runs that start at
  /// the same moment get two folders.
  [[nodiscard]] static Result<OutputFolder> next(const std::string& application, int ranks);

  /// Makes `path`, which must not exist yet or be an empty folder.
  [[nodiscard]] static Result<OutputFolder> at(const std::filesystem::path& path);

  /// Absolute.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Removes the folder if it was made here and nothing is in it.
  void remove_if_empty() const;

 private:
  OutputFolder(std::filesystem::path path, bool made) : path_{std::move(path)}, made_{made} {}

  std::filesystem::path path_;
  bool made_;
};

/// The name that next() would take now, without making it.
[[nodiscard]] std::filesystem::path preview_next(const std::string& application, int ranks);

}  // namespace nplus1::analyses
