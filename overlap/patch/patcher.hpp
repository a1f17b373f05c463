// Answers a whole request: every chain is patched or refused by itself, and all patches together are checked again.
// Reads the sources and starts their compiler; writes nothing but a temporary folder that is gone afterwards.
#pragma once

#include "overlap/patch/request.hpp"

namespace nplus1::overlap::patch {

[[nodiscard]] Answer answer(const Request& request);

}  // namespace nplus1::overlap::patch
