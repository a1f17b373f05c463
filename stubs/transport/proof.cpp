#include "stubs/transport/proof.hpp"

#include <sys/random.h>

#include <bit>
#include <cstring>

namespace nplus1::transport {
namespace {

std::uint64_t little_endian(const void* bytes) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

/// The four words of SipHash's state, by the names of its paper.
struct State {
  std::uint64_t v0, v1, v2, v3;

  State(std::uint64_t k0, std::uint64_t k1)
      : v0{k0 ^ 0x736f6d6570736575U},
        v1{k1 ^ 0x646f72616e646f6dU ^ 0xeeU},  // 0xee: 128 bits are wanted
        v2{k0 ^ 0x6c7967656e657261U},
        v3{k1 ^ 0x7465646279746573U} {}

  void rounds(int n) {
    for (int i = 0; i < n; ++i) {
      v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
      v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
    }
  }
  void take(std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  [[nodiscard]] std::uint64_t give(std::uint64_t& changed, std::uint64_t by) {
    changed ^= by;
    rounds(4);
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

}  // namespace

Proof keyed_hash(const Key& key, std::string_view message) {
  State state{little_endian(key.data()), little_endian(key.data() + 8)};
  const std::uint64_t length = message.size();
  for (; message.size() >= 8; message.remove_prefix(8)) state.take(little_endian(message.data()));
  std::uint8_t last[8] = {};
  if (!message.empty()) std::memcpy(last, message.data(), message.size());
  last[7] = static_cast<std::uint8_t>(length);
  state.take(little_endian(last));
  const std::uint64_t first = state.give(state.v2, 0xee);
  const std::uint64_t second = state.give(state.v1, 0xdd);
  Proof proof;
  std::memcpy(proof.data(), &first, 8);
  std::memcpy(proof.data() + 8, &second, 8);
  return proof;
}

Proof prove(const Key& key, Side side, const Nonce& of_rank, const Nonce& of_simulator,
            std::string_view said) {
  std::string message(1, static_cast<char>(side));
  message.append(reinterpret_cast<const char*>(of_rank.data()), of_rank.size());
  message.append(reinterpret_cast<const char*>(of_simulator.data()), of_simulator.size());
  return keyed_hash(key, message.append(said));
}

bool same(const Proof& a, const Proof& b) {
  std::uint8_t difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference = static_cast<std::uint8_t>(difference | (a[i] ^ b[i]));
  return difference == 0;
}

std::optional<std::array<std::uint8_t, 16>> random_bytes() {
  std::array<std::uint8_t, 16> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return std::nullopt;
  return bytes;
}

std::string to_hex(const Key& key) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : key) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::optional<Key> from_hex(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  Key key;
  if (text.size() != 2 * key.size()) return std::nullopt;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const std::size_t high = kDigits.find(text[2 * i]);
    const std::size_t low = kDigits.find(text[2 * i + 1]);
    if (high == kDigits.npos || low == kDigits.npos) return std::nullopt;
    key[i] = static_cast<std::uint8_t>(16 * high + low);
  }
  return key;
}

}  // namespace nplus1::transport
