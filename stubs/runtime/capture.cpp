#include "stubs/runtime/capture.hpp"

#include <algorithm>

#include "stubs/pmpi.hpp"
#include "stubs/runtime/payload_hash.hpp"
#include "stubs/runtime/private_copy.hpp"

namespace nplus1::stubs {
namespace {

/// Packed at a time: fits the second-level cache.
constexpr MPI_Count kPackedAtATime = 65536;

}  // namespace

Capture::Capture(const Settings& settings, Datatypes::Define define)
    : crc_{settings.crc},
      elements_{settings.elements},
      region_{settings.record_region},
      datatypes_{std::move(define)} {
  if (crc_) choose_crc();
}

KnownDatatype Capture::datatype(MPI_Datatype type, bool sends) {
  if (type == MPI_DATATYPE_NULL) return {};
  return sends && crc_ ? datatypes_.find_probed(type) : datatypes_.find(type);
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
  if (!crc_ || data.sent == nullptr) return;
  const bool packed = data.sent->type == MPI_PACKED;
  hashed = hash(*data.sent,
                packed ? KnownDatatype{type.id, 1, 1, 0, 1, true, true, ElementType::kWords} : type, detail);
}

std::size_t Capture::hash(const Payload& data, const KnownDatatype& type, events::Detail& detail) {
  PayloadHash hash{type.element, elements_};
  if (type.size == 0 || data.count <= 0) {
    hash.store(detail);
    return 0;
  }
  if (type.plain) {
    hash.add(data.buffer, static_cast<std::size_t>(type.size * data.count));
  } else {
    const MPI_Count step = std::max<MPI_Count>(1, kPackedAtATime / type.size);
    packed_.resize(std::max(packed_.size(), static_cast<std::size_t>(step * type.size)));
    for (MPI_Count i = 0; i < data.count; i += step) {
      MPI_Count position = 0;
      pack(static_cast<const std::byte*>(data.buffer) + i * type.extent, std::min(step, data.count - i),
           data.type, packed_.data(), static_cast<MPI_Count>(packed_.size()), position);
      hash.add(packed_.data(), static_cast<std::size_t>(position));
    }
  }
  hash.store(detail);
  return hash.size();
}

}  // namespace nplus1::stubs
