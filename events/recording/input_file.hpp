// A recording's file while it is read: block by block, each checked before anybody looks into it. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "events/recording/format.hpp"
#include "support/result.hpp"

namespace nplus1::events::recording {

class InputFile {
 public:
  static Result<InputFile> open(const std::filesystem::path& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::int32_t ranks() const { return ranks_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  /// Back to the first block, and to the file's present length.
  void rewind();
  /// The next block's header, and the offset behind that block as the position. Nothing at the end of the
  /// file, and at damage: then damage() says so.
  std::optional<BlockHeader> next();
  /// The payload of the block that next() gave; nothing if it is damaged. Valid until the next call.
  std::optional<ByteSpan> payload();
  /// Declares the block that next() gave damaged: nothing follows.
  void reject(const std::string& why);
  /// What is wrong, with file and offset; empty if nothing is.
  [[nodiscard]] const std::string& damage() const { return damage_; }
  /// After damage: the rows of the block where it is, if its header is sound, and of all later blocks.
  [[nodiscard]] std::uint64_t rows_behind_damage();

 private:
  InputFile(std::filesystem::path path, int descriptor);
  std::optional<Error> check_file_header();
  bool read_at(std::uint64_t offset, std::span<std::byte> out) const;
  [[nodiscard]] std::optional<BlockHeader> header_at(std::uint64_t offset) const;

  std::filesystem::path path_;
  int descriptor_;
  std::int32_t ranks_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t position_ = 0;  // of the next block
  std::uint64_t block_ = 0;     // offset of the block that next() gave, or of the damage
  std::uint64_t number_ = 0;    // of the next block
  BlockHeader header_;
  ByteVector payload_;
  std::string damage_;
};

}  // namespace nplus1::events::recording
