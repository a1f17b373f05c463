// Output that appears whole or not at all: written under a temporary name beside its place, renamed by
// commit(), never over something that exists; removed if commit() is not reached. One thread.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "support/result.hpp"

namespace nplus1::events::exchange {

/// Nothing, where a Result has only an error to tell.
struct Done {};

/// An error if something is there already.
[[nodiscard]] Result<Done> check_free(const std::filesystem::path& path);

/// A folder under construction.
class NewFolder {
 public:
  [[nodiscard]] static Result<NewFolder> create(const std::filesystem::path& path);
  NewFolder(NewFolder&& other) noexcept;
  NewFolder& operator=(NewFolder&&) = delete;
  ~NewFolder();

  /// Where to write until commit().
  [[nodiscard]] const std::filesystem::path& path() const { return temporary_; }
  [[nodiscard]] Result<Done> commit();

 private:
  NewFolder(std::filesystem::path path, std::filesystem::path temporary)
      : path_{std::move(path)}, temporary_{std::move(temporary)} {}
  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty once committed
};

/// A file under construction. A write that fails (a full disk) is told by commit().
class NewFile {
 public:
  [[nodiscard]] static Result<NewFile> create(const std::filesystem::path& path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  void write(std::string_view text);
  [[nodiscard]] Result<Done> commit();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  NewFile(std::filesystem::path path, std::filesystem::path temporary, std::FILE* file)
      : path_{std::move(path)}, temporary_{std::move(temporary)}, file_{file} {}
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::unique_ptr<std::FILE, Close> file_;
  int failed_ = 0;  // errno of the first write that failed
};

}  // namespace nplus1::events::exchange
