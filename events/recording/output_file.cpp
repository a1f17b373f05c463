#include "events/recording/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace nplus1::events::recording {
namespace {

std::string reason(int error) {
  return std::generic_category().message(error);
}

/// 0, or errno.
int write_all(int descriptor, ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written == 0 ? ENOSPC : errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::filesystem::path& path, std::int32_t ranks) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0 && errno == EEXIST)
    return Error{fmt::format("{} exists already, and a recording is never overwritten", path.string()),
                 "choose another output folder, or move the old recording away"};
  if (descriptor < 0)
    return Error{fmt::format("cannot create {}: {}", path.string(), reason(errno)),
                 "choose an output folder that can be written to"};
  OutputFile file{path, descriptor};
  if (std::optional<Error> error = file.write_whole(file_header(ranks), {})) {
    ::unlink(path.c_str());
    return *std::move(error);
  }
  return file;
}

OutputFile::OutputFile(std::filesystem::path path, int descriptor)
    : path_{std::move(path)}, descriptor_{descriptor} {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_{std::move(other.path_)},
      descriptor_{std::exchange(other.descriptor_, -1)},
      bytes_{other.bytes_},
      blocks_{other.blocks_} {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<Error> OutputFile::append(BlockType type, std::uint32_t rows, ByteSpan payload) {
  BlockHeader header;
  header.type = type;
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  header.rows = rows;
  header.number = blocks_;
  header.payload_crc = crc32_of(payload);
  std::optional<Error> error = write_whole(block_header(header), payload);
  if (!error) ++blocks_;
  return error;
}

std::optional<Error> OutputFile::write_whole(ByteSpan header, ByteSpan payload) {
  int error = write_all(descriptor_, header);
  if (error == 0) error = write_all(descriptor_, payload);
  if (error == 0) {
    bytes_ += header.size() + payload.size();
    return {};
  }
  const auto sound = static_cast<off_t>(bytes_);
  const bool cut = ::ftruncate(descriptor_, sound) == 0 && ::lseek(descriptor_, sound, SEEK_SET) == sound;
  return Error{fmt::format("cannot write {} at offset {}: {}{}", path_.string(), bytes_, reason(error),
                           cut ? "" : "; its last block is incomplete"),
               "free space on that disk, record less (--record patterns) or set a size cap"};
}

}  // namespace nplus1::events::recording
