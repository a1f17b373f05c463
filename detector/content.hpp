// What is known of a payload without having it, and what follows for payloads that are made of others. Pure.
// Sources: Calotoiu, Siebert, Wolf, "Pattern-independent detection of manual collectives in MPI programs" (2012),
// section 3; zlib's crc32_combine for the algebra of CRC-32.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "events/event.hpp"

namespace nplus1::detector {

struct Content {
  std::uint64_t bytes = 0;
  std::uint64_t polynomial = 0;  // or the bits of a sketch
  std::uint64_t prefix = 0;
  std::uint32_t crc = 0;
  float magnitude = 0;           // sum of absolute values, with a sketch
  std::uint8_t known = 0;        // events::DetailContent
  std::uint8_t element = 0;      // bytes of one number; 0: not known

  [[nodiscard]] bool hashed() const { return (known & events::kHasCrc) != 0; }
  /// Equal contents have equal keys; unequal ones by accident once in 2^64 pairs.
  [[nodiscard]] std::uint64_t key() const;
  /// Empty, one word again and again, or a small number: equal by accident, so that it proves no move of data.
  [[nodiscard]] bool is_constant() const;
  friend bool operator==(const Content& a, const Content& b) {
    return a.bytes == b.bytes && a.crc == b.crc && a.polynomial == b.polynomial && a.prefix == b.prefix;
  }
};

/// The first of the numbers that a payload is made of; nothing if it is not known to be made of numbers.
[[nodiscard]] std::optional<long double> first_element(const Content& content);

[[nodiscard]] Content content_of(std::uint64_t bytes, const events::Detail* detail);

/// CRC-32 of a payload of `second_bytes` that follows another.
[[nodiscard]] std::uint32_t crc_concatenated(std::uint32_t first, std::uint32_t second,
                                             std::uint64_t second_bytes);

enum class Operation : std::uint8_t { kSum, kBxor, kMax, kMin, kProd };
[[nodiscard]] const char* name(Operation operation);

/// The operation that makes `result` out of all of `operands`, if a hash proves one. Payloads of at most 8 bytes
/// are compared as integers, longer ones by sums (integers, floating point) and exclusive or.
[[nodiscard]] std::optional<Operation> combination(const Content& result, std::span<const Content> operands);

}  // namespace nplus1::detector
