#include "events/recording/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace nplus1::events::recording {
namespace {

constexpr std::size_t kSearchBytes = 1U << 20U;  // read at once when looking for blocks behind damage

std::uint64_t size_of(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

Error not_readable(const std::filesystem::path& path, int error) {
  const std::filesystem::path folder = path.parent_path();
  for (const char* const result : {"summary.json", "patterns.json"})
    if (std::error_code none; error == ENOENT && std::filesystem::exists(folder / result, none))
      return {fmt::format("{} is the result of a run that kept no recording", folder.string()),
              "run it again with --record full, the default, and without --patterns-only; nplus1 patterns "
              "shows what there is"};
  return {fmt::format("cannot read {}: {}", path.string(), std::generic_category().message(error)),
          "name a recording: a result folder, its folder recording/, or the file in it"};
}

}  // namespace

Result<InputFile> InputFile::open(const std::filesystem::path& path) {
  // Not blocking: a pipe in the place of a file must not hang us.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return not_readable(path, errno);
  InputFile file{path, descriptor};
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return not_readable(path, EINVAL);
  file.rewind();
  if (std::optional<Error> error = file.check_file_header()) return *std::move(error);
  return file;
}

InputFile::InputFile(std::filesystem::path path, int descriptor)
    : path_{std::move(path)}, descriptor_{descriptor} {}

InputFile::InputFile(InputFile&& other) noexcept
    : path_{std::move(other.path_)},
      descriptor_{std::exchange(other.descriptor_, -1)},
      ranks_{other.ranks_},
      bytes_{other.bytes_},
      position_{other.position_} {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<Error> InputFile::check_file_header() {
  HeaderBytes bytes{};
  const std::string name = path_.string();
  if (bytes_ == 0)
    return Error{fmt::format("{} is empty: its run ended before anything was recorded", name),
                 "run it again"};
  const bool whole = read_at(0, bytes);
  const FileHeader header = parse_file_header(bytes);
  if (!whole || !header.is_recording)
    return Error{fmt::format("{} is not a recording of nplus1 (offset 0)", name),
                 "name a result folder of nplus1, or its recording/" + std::string{kFileName}};
  if (header.major > kMajorVersion)
    return Error{
        fmt::format("{} has version {}.{} of the format, and this nplus1 reads version {} (offset 8)", name,
                    header.major, header.minor, kMajorVersion),
        "read it with the nplus1 that wrote it, or a newer one"};
  if (!header.sound || header.major == 0)
    return Error{fmt::format("{}: its header is damaged (offset 0 to {})", name, kHeaderBytes),
                 "take another copy of the recording, or record again"};
  ranks_ = header.ranks;
  return {};
}

bool InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    offset += static_cast<std::uint64_t>(got);
    out = out.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

std::optional<BlockHeader> InputFile::header_at(std::uint64_t offset) const {
  HeaderBytes bytes{};
  if (!read_at(offset, bytes)) return {};
  return parse_block_header(bytes);
}

void InputFile::rewind() {
  bytes_ = size_of(descriptor_);
  position_ = block_ = kHeaderBytes;
  number_ = 0;
  damage_.clear();
}

std::optional<BlockHeader> InputFile::next() {
  if (!damage_.empty()) return {};
  block_ = position_;
  if (block_ == bytes_) return {};
  const std::optional<BlockHeader> header = header_at(block_);
  if (!header) {
    reject(bytes_ - block_ < kHeaderBytes ? "the file ends inside a block's header"
                                          : "there is no sound block header");
    return {};
  }
  header_ = *header;
  if (header_.number != number_) {
    reject(fmt::format("block {} stands where block {} should", header_.number, number_));
    return {};
  }
  if (header_.payload_bytes > bytes_ - block_ - kHeaderBytes) {
    reject("the file ends inside a block");
    return {};
  }
  ++number_;
  position_ = block_ + kHeaderBytes + header_.payload_bytes;
  return header_;
}

std::optional<ByteSpan> InputFile::payload() {
  payload_.resize(header_.payload_bytes);  // no more than the file has
  if (!read_at(block_ + kHeaderBytes, payload_)) {
    reject("the block cannot be read");
    return {};
  }
  if (crc32_of(payload_) != header_.payload_crc) {
    reject("the block's checksum does not hold");
    return {};
  }
  return ByteSpan{payload_};
}

void InputFile::reject(const std::string& why) {
  damage_ = fmt::format("{}, offset {}: {}", path_.string(), block_, why);
}

std::uint64_t InputFile::rows_behind_damage() {
  std::uint64_t rows = 0;
  ByteVector window;
  for (std::uint64_t at = block_; at + kHeaderBytes <= bytes_;) {
    if (const std::optional<BlockHeader> header = header_at(at); header && header->number + 1 >= number_) {
      rows += header->rows;
      at += kHeaderBytes + header->payload_bytes;
      continue;
    }
    window.resize(std::min<std::uint64_t>(kSearchBytes, bytes_ - at));
    if (!read_at(at, window)) break;
    const auto found =
        std::search(window.begin() + 1, window.end(), kBlockMarker.begin(), kBlockMarker.end());
    const auto passed = static_cast<std::uint64_t>(found - window.begin());
    // A marker may lie across two windows.
    at += found == window.end() && passed > kBlockMarker.size() ? passed - kBlockMarker.size() + 1 : passed;
  }
  return rows;
}

}  // namespace nplus1::events::recording
