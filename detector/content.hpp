// What is known of a payload without having it, and what follows for payloads that are made of others. Pure.
// Sources: Calotoiu, Siebert, Wolf, "Pattern-independent detection of manual collectives in MPI programs" (2012),
// section 3; zlib's crc32_combine for the algebra of CRC-32.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "events/event.hpp"
#include "events/payload/element_type.hpp"

namespace nplus1::detector {

struct Content {
  std::uint64_t bytes = 0;
  std::uint64_t polynomial = 0;  // or the bits of a sketch
  std::uint64_t prefix = 0;
  std::uint32_t crc = 0;
  float magnitude = 0;                            // sum of absolute values, with a sketch
  std::uint8_t known = 0;                         // events::DetailContent
  std::uint8_t element = 0;                       // bytes of one number; 0: not known
  std::uint8_t information = 0;                   // bits, see information_of()
  std::array<float, events::kSamples> samples{};  // of the elements, with kHasSamples

  /// Whether a hash of all of it is known.
  [[nodiscard]] bool hashed() const { return (known & (events::kHasCrc | events::kHasPolynomial)) != 0; }
  [[nodiscard]] bool has_crc() const { return (known & events::kHasCrc) != 0; }
  /// Equal contents have equal keys; unequal ones by accident once in 2^64 pairs.
  [[nodiscard]] std::uint64_t key() const;
  /// Empty, one word again and again, or a small number: equal by accident, so that it proves no move of data.
  [[nodiscard]] bool is_constant() const;
  friend bool operator==(const Content& a, const Content& b) {
    return a.bytes == b.bytes && a.crc == b.crc && a.polynomial == b.polynomial && a.prefix == b.prefix;
  }
};

/// Of how many messages less is known than could be (--hash).
struct Unknown {
  std::uint64_t hashes = 0;  // no hash of the whole payload
  std::uint64_t crc = 0;     // another hash, but no CRC-32
  std::uint64_t sums = 0;    // a CRC-32 alone

  void count(const Content& content) {
    const bool adds_up = (content.known & (events::kHasPolynomial | events::kHasSketch)) != 0;
    if (content.bytes == 0) return;
    hashes += content.hashed() ? 0U : 1U;
    crc += content.hashed() && !content.has_crc() ? 1U : 0U;
    sums += content.has_crc() && !adds_up ? 1U : 0U;
  }
};

/// The first of the numbers that a payload is made of, and its samples if there are; nothing if it is not known to be
/// made of numbers.
[[nodiscard]] std::vector<long double> some_elements(const Content& content);

/// Bits in which what is known of single elements shows that `part` is what lies `offset` bytes inside of `whole`;
/// nothing: it is not.
[[nodiscard]] std::optional<double> agreement(const Content& whole, std::uint64_t offset,
                                              const Content& part);

/// What a recording knows of a payload; hashes of what it has whole are computed. `type`: of its elements.
[[nodiscard]] Content content_of(std::uint64_t bytes, const events::Detail* detail,
                                 events::payload::ElementType type = events::payload::ElementType::kWords);

/// How many bits a payload says, at least: an exchange of unrelated data has an equal one by accident once in
/// 2^information. The significant bits of its numbers, as far as they are known (0, 1 and 0.5 have few); at most 255.
[[nodiscard]] std::uint8_t information_of(const events::Detail& detail, std::uint64_t bytes,
                                          events::payload::ElementType type);
/// Of one number: those between its first and its last digit, and a few for its size.
[[nodiscard]] unsigned significant_bits(double number);

/// CRC-32 of a payload of `second_bytes` that follows another.
[[nodiscard]] std::uint32_t crc_concatenated(std::uint32_t first, std::uint32_t second,
                                             std::uint64_t second_bytes);

enum class Operation : std::uint8_t { kSum, kBxor, kMax, kMin, kProd };
[[nodiscard]] const char* name(Operation operation);

/// A bit for each Operation.
using Operations = std::uint8_t;
[[nodiscard]] constexpr Operations only(Operation operation) {
  return static_cast<Operations>(1U << static_cast<unsigned>(operation));
}

/// The operations that make `result` out of all of `operands`, as far as hashes prove it; more than one where the values
/// don't tell (1 and 1 are the product of themselves, and their own maximum). Payloads of at most 8 bytes
/// are compared as integers, longer ones by sums (integers, floating point), exclusive or, and products of samples.
[[nodiscard]] Operations combinations(const Content& result, std::span<const Content> operands);
/// The first of them.
[[nodiscard]] std::optional<Operation> combination(const Content& result, std::span<const Content> operands);

}  // namespace nplus1::detector
