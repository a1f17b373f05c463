#include "events/recording/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <new>

namespace nplus1::events::recording {
namespace {

enum class Plane : std::uint8_t { kZero, kPlain, kFrame };

constexpr int kLevel = 1;
constexpr std::size_t kWorthCompressing = 64;  // bytes; a frame's own header takes some ten
constexpr unsigned kPatience = 15;             // blocks without another try once compressing gained nothing

template <class T>
T* checked(T* context) {
  if (context == nullptr) throw std::bad_alloc{};
  return context;
}

// The two loops below take raw pointers that do not alias, so that compilers vectorise them.

/// Byte `k` of each entry.
void extract_plane(const std::uint64_t* __restrict entries, std::size_t count, unsigned k,
                   std::byte* __restrict plane) {
  for (std::size_t i = 0; i < count; ++i) plane[i] = static_cast<std::byte>(entries[i] >> (8 * k));
}

void merge_plane(const std::byte* __restrict plane, std::size_t count, unsigned k,
                 std::uint64_t* __restrict entries) {
  for (std::size_t i = 0; i < count; ++i) entries[i] |= static_cast<std::uint64_t>(plane[i]) << (8 * k);
}

bool is_zero(ByteSpan bytes) {
  return bytes.front() == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace

ColumnPacker::ColumnPacker() : context_{checked(ZSTD_createCCtx())} {}

bool ColumnPacker::compress(ByteSpan raw, ByteVector& out) {
  if (raw.size() < kWorthCompressing) return false;
  const std::size_t at = out.size();
  out.resize(at + ZSTD_compressBound(raw.size()));
  const std::size_t size =
      ZSTD_compressCCtx(context_.get(), out.data() + at, out.size() - at, raw.data(), raw.size(), kLevel);
  const bool gained = ZSTD_isError(size) == 0 && size + sizeof(std::uint32_t) < raw.size();
  out.resize(gained ? at + size : at);
  return gained;
}

void ColumnPacker::pack(Column column, std::span<std::uint64_t> entries, ByteVector& out) {
  if (entries.empty()) return;
  std::uint64_t used_bits = 0;
  if (is_signed(column)) {
    for (std::uint64_t& entry : entries) used_bits |= entry = zigzag(entry);
  } else {
    for (const std::uint64_t entry : entries) used_bits |= entry;
  }
  const unsigned width = (static_cast<unsigned>(std::bit_width(used_bits)) + 7) / 8;
  put(out, column);
  put(out, static_cast<std::uint8_t>(width));
  put(out, std::uint16_t{0});
  put(out, static_cast<std::uint32_t>(entries.size()));
  const std::size_t size_at = out.size();
  put(out, std::uint32_t{0});
  plane_.resize(entries.size());
  for (unsigned k = 0; k < width; ++k) {
    extract_plane(entries.data(), entries.size(), k, plane_.data());
    pack_plane(patience_[column][k], out);
  }
  const auto size = static_cast<std::uint32_t>(out.size() - size_at - sizeof(std::uint32_t));
  std::memcpy(out.data() + size_at, &size, sizeof size);
}

void ColumnPacker::pack_plane(unsigned& patience, ByteVector& out) {
  const std::size_t at = out.size();
  if (is_zero(plane_)) {
    put(out, Plane::kZero);
    return;
  }
  if (patience == 0) {
    put(out, Plane::kFrame);
    put(out, std::uint32_t{0});
    if (compress(plane_, out)) {
      const auto size = static_cast<std::uint32_t>(out.size() - at - 5);
      std::memcpy(out.data() + at + 1, &size, sizeof size);
      return;
    }
    out.resize(at);
    if (plane_.size() >= kWorthCompressing) patience = kPatience;
  } else {
    --patience;
  }
  put(out, Plane::kPlain);
  put_bytes(out, plane_);
}

ColumnUnpacker::ColumnUnpacker() : context_{checked(ZSTD_createDCtx())} {}

bool ColumnUnpacker::decompress(ByteSpan frame, std::span<std::byte> out) {
  if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != out.size()) return false;
  return ZSTD_decompressDCtx(context_.get(), out.data(), out.size(), frame.data(), frame.size()) ==
         out.size();
}

std::optional<std::string> ColumnUnpacker::unpack(ByteSpan payload,
                                                  const std::array<std::uint64_t, kColumns>& limits,
                                                  std::array<Entries, kColumns>& columns) {
  for (Entries& entries : columns) entries.clear();
  ByteReader in{payload};
  for (int previous = -1; in.left() > 0;) {
    const auto id = in.get<std::uint8_t>();
    const auto width = in.get<std::uint8_t>();
    in.get<std::uint16_t>();
    const auto count = in.get<std::uint32_t>();
    const ByteSpan data = in.take(in.get<std::uint32_t>());
    if (!in.ok()) return "a column goes beyond the block";
    if (id <= previous) return fmt::format("column {} follows column {}", id, previous);
    previous = id;
    if (id >= kColumns || limits[id] == 0) continue;  // a newer version's
    if (count > limits[id] || width > 8)
      return fmt::format("column {} has {} entries of {} bytes, at most {} can be", id, count, width,
                         limits[id]);
    columns[id].assign(count + std::size_t{1}, 0);
    const std::span<std::uint64_t> entries = std::span{columns[id]}.first(count);
    if (!unpack_planes(data, width, entries)) return fmt::format("column {} does not unpack", id);
    if (is_signed(Column{id}))
      for (std::uint64_t& entry : entries) entry = unzigzag(entry);
  }
  return {};
}

bool ColumnUnpacker::unpack_planes(ByteSpan data, unsigned width, std::span<std::uint64_t> entries) {
  ByteReader in{data};
  for (unsigned k = 0; k < width; ++k) {
    const std::optional<ByteSpan> plane = next_plane(in, entries.size());
    if (!plane) return false;
    if (!plane->empty()) merge_plane(plane->data(), entries.size(), k, entries.data());
  }
  return in.left() == 0;
}

/// The plane's bytes; empty if all are zero; nothing if it is malformed.
std::optional<ByteSpan> ColumnUnpacker::next_plane(ByteReader& in, std::size_t count) {
  const auto encoding = in.get<Plane>();
  if (!in.ok()) return {};
  if (encoding == Plane::kZero) return ByteSpan{};
  if (encoding == Plane::kPlain) {
    const ByteSpan bytes = in.take(count);
    if (!in.ok()) return {};
    return bytes;
  }
  if (encoding != Plane::kFrame) return {};
  const ByteSpan frame = in.take(in.get<std::uint32_t>());
  plane_.resize(count);
  if (!in.ok() || !decompress(frame, plane_)) return {};
  return ByteSpan{plane_};
}

}  // namespace nplus1::events::recording
