// What a search says of a recording, as one value: found here, or by other processes and sent as bytes.
#pragma once

#include <string>
#include <string_view>

#include "detector/findings.hpp"
#include "support/result.hpp"

namespace nplus1::detector {

struct Analysis {
  std::vector<Finding> findings;
  std::uint64_t messages = 0;
  Unknown unknown;
  std::uint64_t unmatched = 0;
  std::string damage;  // of the recording; empty: it is complete
};

/// Which search: ours, or that of Calotoiu et al. (2012) as it stands there.
enum class Method : std::uint8_t { kDefault, kPaper };

/// For from_bytes() of the same version; numbers and texts as CBOR (RFC 8949).
[[nodiscard]] std::string to_bytes(const Analysis& analysis);
[[nodiscard]] Result<Analysis> from_bytes(std::string_view bytes);

}  // namespace nplus1::detector
