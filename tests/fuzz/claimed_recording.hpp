// A recording whose bytes are all sound and whose claims are the fuzzer's, for the targets that analyse it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {

enum class Accesses : std::uint8_t { kNone, kSome };

/// Writes `most` rows at most, of `ranks` ranks.
void write_claims(const std::filesystem::path& recording, Choices& choices, std::int32_t ranks, int most,
                  Accesses accesses);

/// Choices of `length` bytes to begin with; the first byte of each is another.
[[nodiscard]] std::vector<std::string> seeds_of_claims(std::size_t length);

}  // namespace nplus1::fuzz
