// Columns of an events block: which there are, and how each is stored. Normative:
// docs/formats/recording.md, "Events".
#pragma once

#include <zstd.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "events/recording/bytes.hpp"

namespace nplus1::events::recording {

enum Column : std::uint8_t {
  kLaneRank = 1,
  kLaneThread,
  kRunLane,
  kRunLength,
  kTemplateCall,
  kTemplatePlace,
  kTemplateDetail,
  kShapeTemplate,
  kShapeMask,
  kShape,
  // Fields: an entry only where the value is not the one predicted.
  kCompute = 16,
  kEntry,
  kRequest,
  kPeerOffset,
  kPeer,
  kTag,
  kSize,
  kAux,
  kExtension,
  kExit,
  kOrdinal,
  kAnswerThread,
  kAnswerIndex,
  kAnswerRequest,
  kAnswerSource,
  kAnswerTag,
  kAnswerExtension,
  kAnswerSequence,
  kAnswerExit,
  kAnswerSize,
  kAnswerAux,
  kAnswerReserved,
  kWallBefore,
  kWallEntry,
  kBuffer,
  kCount,
  kPrefix,
  kPolynomial,
  kCrc,
  kDetailReserved,
  kWordCount,
  kSizeCount,
  kCompletedCount,
  kExcerpt,  // and the seven behind it
  kLastExcerpt = kExcerpt + 7,
  // Values of lists: an entry for each.
  kWords = 64,
  kSizes,
  kCompleted,
  kColumns,
};
inline constexpr std::uint8_t kFirstField = kCompute;
inline constexpr std::uint8_t kEndOfFields = kLastExcerpt + 1;

[[nodiscard]] constexpr std::uint64_t field_bit(Column column) {
  return std::uint64_t{1} << (column - kFirstField);
}

/// Whether entries are differences of either sign, stored in zigzag.
[[nodiscard]] constexpr bool is_signed(Column column) {
  switch (column) {
    case kAnswerAux:
    case kAnswerReserved:
    case kPrefix:
    case kPolynomial:
    case kCrc:
    case kDetailReserved:
      return false;
    default:
      return column == kRunLane || column >= kFirstField;
  }
}

/// Appends columns to a payload. Keeps scratch memory, and a memory of which byte planes do not compress, so
/// that it loses no time on hashes. One thread.
class ColumnPacker {
 public:
  ColumnPacker();
  /// `entries` are differences, before zigzag, and are clobbered. Appends nothing if there is none.
  void pack(Column column, std::span<std::uint64_t> entries, ByteVector& out);
  /// Appends one zstd frame, or nothing if that would not be smaller than `raw`. True if it did.
  bool compress(ByteSpan raw, ByteVector& out);

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  void pack_plane(unsigned& patience, ByteVector& out);

  std::unique_ptr<ZSTD_CCtx, Free> context_;
  ByteVector plane_;
  std::array<std::array<unsigned, 8>, kColumns> patience_{};  // blocks until compressing is tried again
};

/// Takes columns off a payload. One thread.
class ColumnUnpacker {
 public:
  ColumnUnpacker();

  using Entries = std::vector<std::uint64_t>;
  /// Fills `columns` (by Column; those that are absent are left empty) from a payload. `limits` says how many
  /// entries each may have. Each filled vector has one entry more than its column: a zero. Returns what is
  /// wrong with the payload, if anything.
  std::optional<std::string> unpack(ByteSpan payload, const std::array<std::uint64_t, kColumns>& limits,
                                    std::array<Entries, kColumns>& columns);
  /// Decompresses one frame of exactly `out.size()` bytes.
  [[nodiscard]] bool decompress(ByteSpan frame, std::span<std::byte> out);

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  bool unpack_planes(ByteSpan data, unsigned width, std::span<std::uint64_t> entries);
  std::optional<ByteSpan> next_plane(ByteReader& in, std::size_t count);

  std::unique_ptr<ZSTD_DCtx, Free> context_;
  ByteVector plane_;
};

}  // namespace nplus1::events::recording
