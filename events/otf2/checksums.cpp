#include "events/otf2/checksums.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace nplus1::events::otf2 {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCopyAgain = "convert the recording again, or copy the archive again";

std::string checksum(const fs::path& file) {
  std::ifstream stream{file, std::ios::binary};
  std::vector<char> buffer(std::size_t{1} << 16);  // an archive has many small files
  uLong sum = crc32(0, nullptr, 0);
  while (stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || stream.gcount() > 0) {
    sum = crc32(sum, reinterpret_cast<const Bytef*>(buffer.data()), static_cast<uInt>(stream.gcount()));
  }
  return stream.eof() ? fmt::format("{:08x}", sum) : "unreadable";
}

std::vector<std::string> files_of(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator{folder}) {
    if (entry.is_regular_file() && entry.path().filename() != kChecksums)
      names.push_back(entry.path().lexically_relative(folder).generic_string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string list_of(const fs::path& folder) {
  std::string text;
  for (const std::string& name : files_of(folder)) text += checksum(folder / name) + "  " + name + "\n";
  return text;
}

Error damaged(const fs::path& file, const std::string& how) {
  return {file.string() + ": " + how, kCopyAgain};
}

}  // namespace

Result<exchange::Done> write_checksums(const fs::path& folder) {
  auto file = exchange::NewFile::create(folder / kChecksums);
  if (!file) return file.error();
  const std::string list = list_of(folder);  // with the temporary file in it: named with a dot
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = list.find('\n', at) + 1;
    const std::string line = list.substr(at, end - at);
    if (line.find("  .") == std::string::npos) file.value().write(line);
    at = end;
  }
  return file.value().commit();
}

Result<exchange::Done> verify_checksums(const fs::path& folder) {
  std::ifstream list{folder / kChecksums, std::ios::binary};
  if (!list) return exchange::Done{};
  std::string line;
  std::size_t lines = 0;
  for (; std::getline(list, line); ++lines) {
    const std::string name = line.size() > 10 ? line.substr(10) : std::string{};
    const fs::path file = folder / name;
    if (name.empty() || !fs::is_regular_file(file)) return damaged(file, "is missing");
    if (list.eof() || line.substr(0, 10) != checksum(file) + "  ")
      return damaged(file,
                     "is not as it was written: its CRC-32 is not the one in " + std::string{kChecksums});
  }
  if (lines != files_of(folder).size())
    return damaged(folder / kChecksums, "does not list the archive's files");
  return exchange::Done{};
}

}  // namespace nplus1::events::otf2
