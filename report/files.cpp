#include "report/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace nplus1::report {
namespace {

Error failure(const std::filesystem::path& path, const std::string& step, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return {
      "cannot write " + path.string() + ": " + step + ": " + std::strerror(error),
      full ? "free some space, or choose a folder on another disk" : "check the folder and its permissions"};
}

/// The number of the error, 0 for success. A short write is followed by another, which tells the reason.
int write_all(int file, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = write(file, contents.data(), contents.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) contents.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

Result<Done> write_into(const std::filesystem::path& path, std::string_view contents) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return failure(path, "open", errno);
  int error = write_all(file, contents);
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0) return Done{};
  return failure(path, "write", error);
}

}  // namespace

Result<Done> write_file(const std::filesystem::path& given, std::string_view contents) {
  std::error_code none;
  const auto status = std::filesystem::status(given, none);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return write_into(given, contents);
  std::filesystem::path path = given;
  if (std::filesystem::exists(status)) path = std::filesystem::canonical(given, none);
  if (none || path.empty()) path = given;
  const std::string temporary = path.string() + ".part-" + std::to_string(getpid());
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return failure(path, "open", errno);
  int error = write_all(file, contents);
  std::string step = "write";
  if (close(file) != 0 && error == 0) {  // network file systems report a full disk only here
    error = errno;
    step = "close";
  }
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) {
    error = errno;
    step = "rename";
  }
  if (error == 0) return Done{};
  unlink(temporary.c_str());
  return failure(path, step, error);
}

}  // namespace nplus1::report
