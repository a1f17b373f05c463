#include "stubs/runtime/arguments/typemaps.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "stubs/pmpi.hpp"
#include "stubs/runtime/arguments/private_copy.hpp"

namespace nplus1::stubs {
namespace {

using access::Segment;
using Segments = std::vector<Segment>;

constexpr std::size_t kMostPieces = 1 << 16;
constexpr std::size_t kBlock = 1 << 20;

std::optional<Segments> pieces_of(MPI_Datatype type);

MPI_Count extent_of(MPI_Datatype type) {
  MPI_Count lower = 0, extent = 0;
  pmpi::Type_get_extent_x(type, &lower, &extent);
  return extent;
}

void append(Segments& to, std::int64_t offset, std::int64_t length) {
  if (length <= 0) return;
  if (!to.empty() && to.back().offset + to.back().length == offset)
    to.back().length += length;
  else
    to.push_back({offset, length});
}

/// `count` elements that follow each other, from `offset` on.
bool append_block(Segments& to, const Segments& element, std::int64_t offset, std::int64_t count,
                  MPI_Count extent) {
  if (element.size() == 1 && element[0].length == extent && count > 0) {
    append(to, offset + element[0].offset, count * extent);
    return to.size() <= kMostPieces;
  }
  for (std::int64_t k = 0; k < count; ++k) {
    for (const Segment& s : element) append(to, offset + k * extent + s.offset, s.length);
    if (to.size() > kMostPieces) return false;
  }
  return true;
}

Segments whole(MPI_Datatype type) {
  MPI_Count first = 0, span = 0;
  pmpi::Type_get_true_extent_x(type, &first, &span);
  return span > 0 ? Segments{{static_cast<std::int64_t>(first), static_cast<std::int64_t>(span)}}
                  : Segments{};
}

/// What made a type.
struct Contents {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> i;
  std::vector<MPI_Aint> a;
  std::vector<MPI_Datatype> d;

  explicit Contents(MPI_Datatype type) {
    int integers = 0, addresses = 0, types = 0;
    pmpi::Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (is_named()) return;
    i.resize(static_cast<std::size_t>(integers) + 1);
    a.resize(static_cast<std::size_t>(addresses) + 1);
    d.resize(static_cast<std::size_t>(types) + 1, MPI_DATATYPE_NULL);
    pmpi::Type_get_contents(type, integers, addresses, types, i.data(), a.data(), d.data());
    d.pop_back();
  }
  ~Contents() {
    for (MPI_Datatype& part : d)
      if (!stubs::is_named(part)) pmpi::Type_free(&part);
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  [[nodiscard]] bool is_named() const { return makes_named(combiner); }
};

std::optional<Segments> subarray(const Contents& c, const Segments& element, MPI_Count extent) {
  const auto dims = static_cast<std::size_t>(c.i[0]);
  const int* size = &c.i[1];
  const int* sub = size + dims;
  const int* start = sub + dims;
  const bool fortran = start[dims] == MPI_ORDER_FORTRAN;
  // Dimensions from the one whose elements lie side by side.
  std::vector<std::size_t> order(dims);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!fortran) std::reverse(order.begin(), order.end());
  Segments now = element;
  std::int64_t stride = extent;
  for (std::size_t k = 0; k < dims; ++k) {
    const std::size_t d = order[k];
    Segments next;
    for (std::int64_t n = 0; n < sub[d]; ++n) {
      for (const Segment& s : now) append(next, (start[d] + n) * stride + s.offset, s.length);
      if (next.size() > kMostPieces) return std::nullopt;
    }
    now = std::move(next);
    stride *= size[d];
  }
  return now;
}

/// Type i of a struct, its block and its place.
bool append_struct(Segments& all, const Contents& c) {
  for (std::size_t k = 0; k < static_cast<std::size_t>(c.i[0]); ++k) {
    const auto part = pieces_of(c.d[k]);
    if (!part || !append_block(all, *part, c.a[k], c.i[k + 1], extent_of(c.d[k]))) return false;
  }
  return true;
}

bool append_indexed(Segments& all, const Contents& c, const Segments& element, MPI_Count extent) {
  const auto n = static_cast<std::size_t>(c.i[0]);
  for (std::size_t k = 0; k < n; ++k) {
    bool fits = true;
    switch (c.combiner) {
      case MPI_COMBINER_INDEXED:
        fits = append_block(all, element, c.i[1 + n + k] * extent, c.i[1 + k], extent);
        break;
      case MPI_COMBINER_HINDEXED:
        fits = append_block(all, element, c.a[k], c.i[1 + k], extent);
        break;
      case MPI_COMBINER_INDEXED_BLOCK:
        fits = append_block(all, element, c.i[2 + k] * extent, c.i[1], extent);
        break;
      default:
        fits = append_block(all, element, c.a[k], c.i[1], extent);
    }
    if (!fits) return false;
  }
  return true;
}

std::optional<Segments> pieces_of(MPI_Datatype type) {
  const Contents c{type};
  if (c.is_named()) return whole(type);
  if (c.combiner == MPI_COMBINER_DARRAY || c.d.empty()) return whole(type);
  Segments all;
  if (c.combiner == MPI_COMBINER_STRUCT) return append_struct(all, c) ? std::optional{all} : std::nullopt;
  const auto element = pieces_of(c.d[0]);
  if (!element) return std::nullopt;
  const MPI_Count extent = extent_of(c.d[0]);
  bool fits = true;
  switch (c.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return element;
    case MPI_COMBINER_CONTIGUOUS:
      fits = append_block(all, *element, 0, c.i[0], extent);
      break;
    case MPI_COMBINER_VECTOR:
      for (std::int64_t k = 0; k < c.i[0] && fits; ++k)
        fits = append_block(all, *element, k * c.i[2] * extent, c.i[1], extent);
      break;
    case MPI_COMBINER_HVECTOR:
      for (std::int64_t k = 0; k < c.i[0] && fits; ++k)
        fits = append_block(all, *element, k * c.a[0], c.i[1], extent);
      break;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
      fits = append_indexed(all, c, *element, extent);
      break;
    case MPI_COMBINER_SUBARRAY:
      return subarray(c, *element, extent);
    default:
      return whole(type);
  }
  return fits ? std::optional{all} : std::nullopt;
}

/// Bytes of each basic element; -1 if they differ, 0 if there is none.
MPI_Count element_bytes(MPI_Datatype type) {
  const Contents c{type};
  if (c.is_named()) {
    MPI_Count size = 0, lower = 0, extent = 0;
    pmpi::Type_size_x(type, &size);
    pmpi::Type_get_extent_x(type, &lower, &extent);
    return size == extent ? size : -1;
  }
  MPI_Count common = 0;
  for (const MPI_Datatype part : c.d) {
    const MPI_Count bytes = element_bytes(part);
    if (bytes < 0 || (common != 0 && bytes != 0 && bytes != common)) return -1;
    if (bytes != 0) common = bytes;
  }
  return common;
}

/// In the order of their addresses, with those joined that touch.
Segments sorted(Segments segments) {
  std::sort(segments.begin(), segments.end(),
            [](const Segment& a, const Segment& b) { return a.offset < b.offset; });
  Segments joined;
  for (const Segment& s : segments) {
    if (!joined.empty() && s.offset <= joined.back().offset + joined.back().length)
      joined.back().length = std::max(joined.back().length, s.offset + s.length - joined.back().offset);
    else
      joined.push_back(s);
  }
  return joined;
}

}  // namespace

bool has_equal_elements(MPI_Datatype type) {
  return element_bytes(type) >= 0;
}

const Segment* Typemaps::keep(Segments&& segments) {
  std::vector<std::int64_t> key;
  for (const Segment& s : segments) {
    key.push_back(s.offset);
    key.push_back(s.length);
  }
  const auto known = kept_.find(key);
  if (known != kept_.end()) return known->second;
  if (left_ < segments.size()) {
    const std::size_t bytes = std::max(kBlock, (segments.size() * sizeof(Segment) + 4095) / 4096 * 4096);
    void* memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    room_ = static_cast<Segment*>(memory);
    left_ = bytes / sizeof(Segment);
  }
  std::copy(segments.begin(), segments.end(), room_);
  const Segment* const at = room_;
  room_ += segments.size();
  left_ -= segments.size();
  kept_.emplace(std::move(key), at);
  return at;
}

const Typemaps::Known& Typemaps::find(MPI_Datatype type) {
  const auto [place, is_new] = known_.try_emplace(type);
  Known& known = place->second;
  if (!is_new) return known;
  known.extent = extent_of(type);
  auto pieces = pieces_of(type);
  Segments segments = sorted(pieces ? *std::move(pieces) : whole(type));
  known.size = static_cast<std::uint32_t>(segments.size());
  known.segments = keep(std::move(segments));
  if (known.segments == nullptr) known.size = 0;
  return known;
}

access::Cells Typemaps::cells(const void* buffer, MPI_Count count, MPI_Datatype type) {
  if (payload_bytes(count, type) <= 0) return {};
  const auto address = reinterpret_cast<std::uintptr_t>(buffer);
  const Known& known = find(type);
  if (known.size == 0) return {};
  if (known.extent <= 0 && count > 1) {
    MPI_Count first = 0, span = 0;
    touched(count, type, first, span);
    return {address + static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(span)};
  }
  return {address, static_cast<std::uint64_t>(count), static_cast<std::int64_t>(known.extent), known.segments,
          known.size};
}

}  // namespace nplus1::stubs
