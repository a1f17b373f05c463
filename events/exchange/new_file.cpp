#include "events/exchange/new_file.hpp"

#include <fcntl.h>
#include <stdio.h>  // NOLINT(modernize-deprecated-headers): renameat2
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace nplus1::events::exchange {
namespace fs = std::filesystem;
namespace {

/// Beside `path`, so that the rename stays within one file system.
fs::path temporary_for(const fs::path& path) {
  fs::path clean = path.lexically_normal();
  if (!clean.has_filename()) clean = clean.parent_path();  // "out/" is "out"
  return clean.parent_path() / ("." + clean.filename().string() + ".part-" + std::to_string(getpid()));
}

Error cannot_create(const fs::path& path, int code) {
  return {path.string() + ": cannot be written: " + std::strerror(code),
          "give another place with -o, or make room there"};
}

Error taken(const fs::path& path) {
  return {path.string() + " exists already, and nothing is ever overwritten",
          "remove it, or give another name with -o"};
}

Result<Done> rename_new(const fs::path& from, const fs::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return Done{};
  if (errno == EEXIST) return taken(to);
  if (errno != EINVAL && errno != ENOSYS) return cannot_create(to, errno);
  // A file system without RENAME_NOREPLACE (NFS).
  if (const auto is_free = check_free(to); !is_free) return is_free.error();
  if (rename(from.c_str(), to.c_str()) != 0) return cannot_create(to, errno);
  return Done{};
}

void remove_quietly(const fs::path& path) {
  std::error_code ignored;
  if (!path.empty()) fs::remove_all(path, ignored);
}

}  // namespace

Result<Done> check_free(const fs::path& path) {
  std::error_code ignored;
  if (fs::symlink_status(path, ignored).type() != fs::file_type::not_found) return taken(path);
  return Done{};
}

Result<NewFolder> NewFolder::create(const fs::path& path) {
  if (const auto is_free = check_free(path); !is_free) return is_free.error();
  fs::path temporary = temporary_for(path);
  std::error_code error;
  if (!fs::create_directory(temporary, error)) return cannot_create(path, error ? error.value() : EEXIST);
  return NewFolder{path, std::move(temporary)};
}

NewFolder::NewFolder(NewFolder&& other) noexcept
    : path_{std::move(other.path_)}, temporary_{std::exchange(other.temporary_, {})} {}

NewFolder::~NewFolder() {
  remove_quietly(temporary_);
}

Result<Done> NewFolder::commit() {
  fs::path target = path_.has_filename() ? path_ : path_.parent_path();
  auto renamed = rename_new(temporary_, target);
  if (renamed) temporary_.clear();
  return renamed;
}

Result<NewFile> NewFile::create(const fs::path& path) {
  if (const auto is_free = check_free(path); !is_free) return is_free.error();
  fs::path temporary = temporary_for(path);
  std::FILE* file = std::fopen(temporary.c_str(), "wxe");
  if (file == nullptr) return cannot_create(path, errno);
  std::setvbuf(file, nullptr, _IOFBF, std::size_t{1} << 18);
  return NewFile{path, std::move(temporary), file};
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_{std::move(other.path_)},
      temporary_{std::exchange(other.temporary_, {})},
      file_{std::move(other.file_)},
      failed_{other.failed_} {}

NewFile::~NewFile() {
  remove_quietly(temporary_);
}

void NewFile::write(std::string_view text) {
  if (failed_ == 0 && std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) failed_ = errno;
}

Result<Done> NewFile::commit() {
  if (std::fclose(file_.release()) != 0 && failed_ == 0) failed_ = errno;
  if (failed_ != 0) return cannot_create(path_, failed_);
  auto renamed = rename_new(temporary_, path_);
  if (renamed) temporary_.clear();
  return renamed;
}

}  // namespace nplus1::events::exchange
