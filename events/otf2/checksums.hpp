// OTF2 has no checksums, and a fifth of all random damage to event files goes unnoticed. So our archives list
// the CRC-32 (zlib's) of each of their files in a file of their own. One thread.
#pragma once

#include <filesystem>

#include "events/exchange/new_file.hpp"

namespace nplus1::events::otf2 {

/// In the archive's folder; a line per file: eight hexadecimal digits, two spaces, the path within the
/// folder.
inline constexpr const char* kChecksums = "nplus1.crc32";

[[nodiscard]] Result<exchange::Done> write_checksums(const std::filesystem::path& folder);

/// An error that names the first file that is not as it was written. True without a list: another tool's
/// archive.
[[nodiscard]] Result<exchange::Done> verify_checksums(const std::filesystem::path& folder);

}  // namespace nplus1::events::otf2
