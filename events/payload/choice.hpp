// What is recorded of the content of messages (--hash, --inline-payloads): parsed by the command and the
// simulator, carried to the ranks as two bytes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nplus1::events::payload {

enum Part : std::uint8_t {
  kPrefix = 1,  // the first 8 bytes: with any other part, too
  kCrc32 = 2,
  kElements = 4,    // the 61-bit polynomial of integers; the real sketch of floating point, with kCrc32
  kSampling = 8,    // four elements of a vector of numbers, with kElements
  kKeptParts = 16,  // parts that a rank keeps, where the addresses of messages show them (events::OwnPart)
};

struct Choice {
  static constexpr std::uint8_t kAll = kPrefix | kCrc32 | kElements | kSampling | kKeptParts;
  std::uint8_t parts = kAll;      // of Part; 0: nothing is known of the content
  std::uint8_t whole_bytes = 64;  // payloads up to here are recorded as they are, at most kExcerptBytes

  [[nodiscard]] bool has(Part part) const { return (parts & part) != 0; }
  friend bool operator==(const Choice&, const Choice&) = default;
};

/// What --hash says, with commas: off, prefix, crc32, poly61, samples, kept; both = crc32,poly61; crc and all
/// = everything. Nothing for other words. `off` also keeps payloads from being recorded whole.
[[nodiscard]] std::optional<Choice> parse_choice(std::string_view text);

/// What --inline-payloads says: 0 to kExcerptBytes; nothing for anything else.
[[nodiscard]] std::optional<std::uint8_t> parse_whole_bytes(std::string_view text);

}  // namespace nplus1::events::payload
