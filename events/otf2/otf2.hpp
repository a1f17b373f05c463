// OTF2, the field's trace format: Vampir, Scalasca, Pipit and otf2-print read what we write; we read our own
// archives, Score-P's, EZTrace's and others' as far as they go (docs/formats/exchange.md). The OTF2 library
// stays in this folder.
//
// Time stamps are virtual picoseconds. What OTF2 has no record for stands in attributes "nplus1::...", so
// that our own archives come back whole.
//
// One thread. The library keeps up to 128 MiB per location in memory before it writes anything.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>

#include "events/exchange/exchange.hpp"

namespace nplus1::events::otf2 {

/// The anchor file within an archive's folder.
inline constexpr const char* kAnchor = "traces.otf2";

/// Makes the folder `folder` when closed.
[[nodiscard]] Result<std::unique_ptr<exchange::Exporter>> create(const std::filesystem::path& folder,
                                                                 const exchange::Preamble& preamble);

/// What an archive may use up before it counts as damaged: the OTF2 library loops, allocates and crashes on
/// some.
struct Limits {
  std::chrono::seconds time{0};  // of CPU; 0: 30 s, and 1 s for each MiB of the archive
  std::size_t memory = std::size_t{16} << 30;
};

/// `archive`: an anchor file, or a folder with exactly one. It is read by a child process with these limits.
[[nodiscard]] Result<std::unique_ptr<exchange::Importer>> open(const std::filesystem::path& archive,
                                                               const Limits& limits = {});

}  // namespace nplus1::events::otf2
