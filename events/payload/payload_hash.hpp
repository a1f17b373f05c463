// What a recording knows of a message's content: hashes of the packed payload, taken by the sender, or, where
// it is short, the payload itself. Further hashes plug in here: a Part, a member, a line in add(), one in
// store(). Never fails; from any thread (after choose_crc()). Costs: docs/benchmarks.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "events/event.hpp"
#include "events/payload/choice.hpp"
#include "events/payload/element_hash.hpp"

namespace nplus1::events::payload {

/// Takes ISA-L's CRC-32 where that library is installed, several times faster than zlib's, with the same
/// values. Once, before the first PayloadHash.
void choose_crc();

class PayloadHash {
 public:
  /// `total`: bytes that add() will get.
  PayloadHash(ElementType type, const Choice& choice, std::size_t total);
  /// The next bytes of the packed payload.
  void add(const void* bytes, std::size_t size);
  /// Writes what is to be known of what was added.
  void store(Detail& detail) const;
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  void add_hashes(const std::byte* bytes, std::size_t size);

  Choice choice_;
  bool whole_;  // no hashes: they follow from the payload
  std::uint32_t crc_ = 0;
  std::size_t size_ = 0;
  std::array<std::uint64_t, kExcerptBytes / 8> first_{};
  ElementHash elements_;
};

/// A detail with the hashes (CRC-32, and that of the elements) of the payload that it has whole; any other as
/// it is. `bytes`: of the payload.
[[nodiscard]] Detail with_hashes(const Detail& detail, std::size_t bytes, ElementType type);

/// The samples of a detail that has some, or has the whole payload; zeros if there are none (`known` false).
struct Samples {
  std::array<float, kSamples> values{};
  bool known = false;
};
[[nodiscard]] Samples samples_of(const Detail& detail, std::size_t bytes, ElementType type);

}  // namespace nplus1::events::payload
