// The text in which a rank tells a call path: "MODULE+0xOFFSET", "MODULE+0xOFFSET BUILDID" or "?" for each frame, with a
// newline between. A module's path may have spaces and newlines itself. A frame of an interpreter's is known with its source
// when it is told: "python:LINE:FUNCTION:FILE", where a backslash stands before a colon in the function's name and before
// each backslash, and "\n" is a newline.
#pragma once

#include <string_view>
#include <vector>

#include "events/definitions.hpp"

namespace nplus1::events {

/// The frames of such a text, not yet resolved; an empty one for "?". A line that ends no frame is a part of the next
/// one's path; behind the last frame it is an empty frame.
[[nodiscard]] std::vector<Frame> frames_of(std::string_view text);

}  // namespace nplus1::events
