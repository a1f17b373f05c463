// Runs a reader of untrusted files in a child process with limits, because the library that it uses may loop,
// allocate without end or crash. What it reads comes back through a pipe, as rows of CSV; how it ended,
// through another. Call from a process with one thread.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "events/otf2/otf2.hpp"

namespace nplus1::events::otf2 {

/// In the child: writes rows to the descriptor, and returns what is missing. What it throws becomes the
/// Error.
using GuardedRead = std::function<std::vector<std::string>(int descriptor)>;

[[nodiscard]] Result<std::unique_ptr<exchange::Importer>> read_guarded(const std::filesystem::path& archive,
                                                                       const Limits& limits,
                                                                       GuardedRead read);

}  // namespace nplus1::events::otf2
