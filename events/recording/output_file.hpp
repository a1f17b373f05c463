// The file of a recording while it is written: whole blocks or nothing, straight to the kernel. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "events/recording/format.hpp"
#include "support/result.hpp"

namespace nplus1::events::recording {

class OutputFile {
 public:
  /// Creates `path`, which must not exist, with a file header.
  static Result<OutputFile> create(const std::filesystem::path& path, std::int32_t ranks);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// Appends one block. If that fails (disk full, size limit), cuts the file back to what it was before.
  std::optional<Error> append(BlockType type, std::uint32_t rows, ByteSpan payload);
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  OutputFile(std::filesystem::path path, int descriptor);
  std::optional<Error> write_whole(ByteSpan header, ByteSpan payload);

  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t bytes_ = 0;
  std::uint64_t blocks_ = 0;
};

}  // namespace nplus1::events::recording
