// How rank and simulator prove to each other that they belong to the same job, before either believes a word of the
// other's: each sends 16 random bytes, and answers the other's with a keyed hash of both, of which side it is, and
// of what it says. Who listens learns nothing that opens another connection, and what one side said cannot be sent
// back to it. The key is made by the simulator and known to the job's processes only (stubs/transport/meeting.hpp).
//
// The hash is SipHash-2-4 with 128 bits (Aumasson and Bernstein 2012, and its reference code): a keyed hash made
// for short messages. It is written out here, in forty lines, because the preloaded library brings no library of
// its own into the program, and because the kernel's (AF_ALG) is not there in most containers.
// Pure, except random_bytes(); callable from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nplus1::transport {

using Key = std::array<std::uint8_t, 16>;
using Nonce = std::array<std::uint8_t, 16>;
using Proof = std::array<std::uint8_t, 16>;

/// SipHash-2-4-128.
[[nodiscard]] Proof keyed_hash(const Key& key, std::string_view message);

enum class Side : std::uint8_t { kRank = 'r', kSimulator = 's' };

/// What `side` shows for knowing the key: the hash of both nonces and of `said`.
[[nodiscard]] Proof prove(const Key& key, Side side, const Nonce& of_rank, const Nonce& of_simulator,
                          std::string_view said);
/// Takes as long wherever they differ.
[[nodiscard]] bool same(const Proof& a, const Proof& b);

/// From the kernel; nothing if it has none.
[[nodiscard]] std::optional<std::array<std::uint8_t, 16>> random_bytes();

[[nodiscard]] std::string to_hex(const Key& key);
[[nodiscard]] std::optional<Key> from_hex(std::string_view text);

}  // namespace nplus1::transport
