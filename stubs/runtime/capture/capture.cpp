#include "stubs/runtime/capture/capture.hpp"

#include <algorithm>

#include "events/payload/payload_hash.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/arguments/address.hpp"
#include "stubs/runtime/arguments/private_copy.hpp"

namespace nplus1::stubs {
namespace {

/// Packed at a time: fits the second-level cache.
constexpr MPI_Count kPackedAtATime = 65536;

/// What a detail has of the payload, as one number.
std::uint64_t mixed(const events::Detail& detail) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
  std::uint64_t all = detail.prefix * kOdd + detail.polynomial;
  all = (all ^ all >> 29U) * kOdd + detail.crc;
  for (const std::uint64_t word : detail.excerpt) all = (all ^ all >> 29U) * kOdd + word;
  return all;
}

}  // namespace

Capture::Capture(const Settings& settings, Datatypes::Define define)
    : content_{settings.content},
      // Under Riesen's protocol all CPU time of a call is charged, also what would be spent on looking.
      infers_{content_.has(events::payload::kKeptParts) && !settings.riesen},
      region_{settings.record_region},
      datatypes_{std::move(define)} {
  if (content_.has(events::payload::kCrc32)) events::payload::choose_crc();
}

KnownDatatype Capture::datatype(MPI_Datatype type, bool sends) {
  if (type == MPI_DATATYPE_NULL) return {};
  return sends && content_.parts != 0 ? datatypes_.find_probed(type) : datatypes_.find(type);
}

void Capture::describe(const CallData& data, events::Detail& detail, std::size_t& hashed) {
  const KnownDatatype type =
      data.datatype.id.value != 0 ? data.datatype : datatype(data.shown.type, data.sent != nullptr);
  // With MPI_BOTTOM, or a part of an array as a type, only the type says where the data are.
  detail.buffer =
      reinterpret_cast<std::uintptr_t>(data.shown.buffer) + static_cast<std::uintptr_t>(type.first);
  const bool one_after_another = data.shown.count <= 1 || type.extent == type.size;
  if (type.span != type.size || !one_after_another) detail.content |= events::kScattered;
  detail.count = data.shown.count;
  detail.datatype = type.id;
  if (content_.parts == 0 || data.sent == nullptr) return;
  const bool packed = data.sent->type == MPI_PACKED;
  const std::int64_t begin = ticks();
  hashed = hash(
      *data.sent,
      packed ? KnownDatatype{type.id, 1, 1, 0, 1, true, true, events::payload::ElementType::kWords} : type,
      detail);
  hashing_ticks_ += ticks() - begin;
}

void Capture::note_sent(const events::Detail& detail, std::int64_t bytes) {
  if (!infers() || bytes <= 0 ||
      (detail.content & (events::kHasPrefix | events::kScattered)) != events::kHasPrefix)
    return;
  kept_parts_.sent({detail.buffer, static_cast<std::uint64_t>(bytes), detail.datatype.value}, mixed(detail));
}

std::uint64_t Capture::content_of(const Payload& data, const KnownDatatype& type) {
  const std::int64_t begin = ticks();
  events::Detail detail;
  hash(data, type, detail);
  hashing_ticks_ += ticks() - begin;
  return mixed(detail);
}

std::size_t Capture::hash(const Payload& data, const KnownDatatype& type, events::Detail& detail) {
  const MPI_Count total = data.count > 0 ? type.size * data.count : 0;
  events::payload::PayloadHash hash{type.element, content_, static_cast<std::size_t>(total)};
  if (total == 0) {
    hash.store(detail);
    return 0;
  }
  if (type.plain) {
    hash.add(data.buffer, static_cast<std::size_t>(total));
  } else {
    const MPI_Count step = std::max<MPI_Count>(1, kPackedAtATime / type.size);
    packed_.resize(std::max(packed_.size(), static_cast<std::size_t>(step * type.size)));
    for (MPI_Count i = 0; i < data.count; i += step) {
      MPI_Count position = 0;
      pack(behind(data.buffer, i * type.extent), std::min(step, data.count - i), data.type, packed_.data(),
           static_cast<MPI_Count>(packed_.size()), position);
      hash.add(packed_.data(), static_cast<std::size_t>(position));
    }
  }
  hash.store(detail);
  return hash.size();
}

}  // namespace nplus1::stubs
