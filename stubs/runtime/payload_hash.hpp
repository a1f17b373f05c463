// What a recording knows of a message's content: hashes of the packed payload, taken by the sender. Further
// hashes plug in here: a member, a line in add(), one in store().
// Never fails; from any thread (after choose_crc()). Costs what crc32 costs: docs/benchmarks.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "events/event.hpp"
#include "stubs/runtime/element_hash.hpp"

namespace nplus1::stubs {

/// Takes ISA-L's CRC-32 where that library is installed, several times faster than zlib's, with the same
/// values. Once, before the first PayloadHash.
void choose_crc();

class PayloadHash {
 public:
  /// Without `elements` CRC-32 and prefix alone: half the cost, but no sum can be told from its operands.
  explicit PayloadHash(ElementType type = ElementType::kWords, bool elements = true)
      : with_elements_{elements}, elements_{type} {}
  /// The next bytes of the packed payload.
  void add(const void* bytes, std::size_t size);
  /// Writes the hashes of what was added.
  void store(events::Detail& detail) const;
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::uint32_t crc_ = 0;
  std::uint64_t prefix_ = 0;
  std::size_t size_ = 0;
  bool with_elements_;
  ElementHash elements_;
};

}  // namespace nplus1::stubs
