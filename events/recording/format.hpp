// The frame of a recording: file header, block headers, and the limits that a reader holds them to.
// Normative: docs/formats/recording.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "events/recording/bytes.hpp"
#include "events/recording/header.hpp"

namespace nplus1::events::recording {

inline constexpr std::uint16_t kMajorVersion = 1;
inline constexpr std::uint16_t kMinorVersion = 0;
inline constexpr std::size_t kHeaderBytes = 32;  // of the file header and of each block header

inline constexpr std::uint32_t kMaxPayloadBytes = 1U << 28U;
inline constexpr std::uint32_t kMaxRows = 1U << 17U;
inline constexpr std::size_t kMaxFrames = 4096;  // of a call path

/// Entries that a block's column of list values may have.
[[nodiscard]] constexpr std::uint64_t max_list_entries(std::int32_t ranks) {
  return (std::uint64_t{1} << 20U) + 4 * static_cast<std::uint64_t>(ranks);
}

/// Bytes of the records of a definitions block.
[[nodiscard]] constexpr std::uint64_t max_definition_bytes(std::int32_t ranks) {
  return (std::uint64_t{1} << 22U) + 8 * static_cast<std::uint64_t>(ranks);
}

enum class BlockType : std::uint16_t { kDefinitions = 1, kEvents = 2, kClosing = 3 };

struct BlockHeader {
  BlockType type{};
  std::uint32_t payload_bytes = 0;
  std::uint32_t rows = 0;
  std::uint64_t number = 0;
  std::uint32_t payload_crc = 0;
};

using HeaderBytes = std::array<std::byte, kHeaderBytes>;

struct FileHeader {
  bool is_recording = false;  // the magic bytes are there
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  std::int32_t ranks = 0;
  bool sound = false;  // its CRC holds, and ranks is in range
};

/// CRC-32 as zlib computes it.
[[nodiscard]] std::uint32_t crc32_of(ByteSpan bytes);

[[nodiscard]] HeaderBytes file_header(std::int32_t ranks);
[[nodiscard]] FileHeader parse_file_header(const HeaderBytes& bytes);

[[nodiscard]] HeaderBytes block_header(const BlockHeader& header);
/// Nothing if the bytes are no block header, or one whose CRC or limits do not hold.
[[nodiscard]] std::optional<BlockHeader> parse_block_header(const HeaderBytes& bytes);
/// The first bytes of every block header, for finding the next one behind damage.
inline constexpr std::array<std::byte, 4> kBlockMarker{std::byte{'n'}, std::byte{'1'}, std::byte{'b'},
                                                       std::byte{'k'}};

/// What the closing block says.
struct Closing {
  Totals totals;
  std::string error;  // why the writer stopped recording early; empty if it did not
};
[[nodiscard]] ByteVector closing_payload(const Closing& closing);
[[nodiscard]] std::optional<Closing> parse_closing(ByteSpan payload);

}  // namespace nplus1::events::recording
