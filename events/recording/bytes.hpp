// Little-endian numbers, varints and strings in byte sequences, as docs/formats/recording.md writes them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nplus1::events::recording {

static_assert(std::endian::native == std::endian::little, "the format is written as it stands in memory");

using ByteVector = std::vector<std::byte>;
using ByteSpan = std::span<const std::byte>;

/// (v << 1) ^ (v >> 63): small for numbers near 0 of both signs.
[[nodiscard]] constexpr std::uint64_t zigzag(std::uint64_t v) {
  return (v << 1U) ^ (0 - (v >> 63U));
}
[[nodiscard]] constexpr std::uint64_t unzigzag(std::uint64_t z) {
  return (z >> 1U) ^ (0 - (z & 1U));
}

template <class T>
void put(ByteVector& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

inline void put_bytes(ByteVector& out, ByteSpan bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

inline void put_varint(ByteVector& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<std::byte>(value | 0x80U));
  out.push_back(static_cast<std::byte>(value));
}

inline void put_string(ByteVector& out, std::string_view text) {
  put_varint(out, text.size());
  put_bytes(out, std::as_bytes(std::span{text.data(), text.size()}));
}

/// Takes values off the front of `bytes`. After a value that is not there, or malformed, ok() is false and
/// everything reads as 0 or empty.
class ByteReader {
 public:
  explicit ByteReader(ByteSpan bytes) : rest_{bytes} {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

  ByteSpan take(std::uint64_t size) {
    if (size > rest_.size()) {
      fail();
      return {};
    }
    const ByteSpan taken = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  template <class T>
  T get() {
    T value{};
    if (const ByteSpan taken = take(sizeof value); ok_) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = get<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    fail();
    return 0;
  }

  std::string string() {
    const ByteSpan taken = take(varint());
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

 private:
  void fail() {
    ok_ = false;
    rest_ = {};
  }

  ByteSpan rest_;
  bool ok_ = true;
};

}  // namespace nplus1::events::recording
