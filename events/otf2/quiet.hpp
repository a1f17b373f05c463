// OTF2 prints its errors; what they mean for the user is in our results.
#pragma once

#include <otf2/otf2.h>

#include <cstdarg>
#include <cstdint>

namespace nplus1::events::otf2 {

inline void keep_library_quiet() {
  OTF2_Error_RegisterCallback([](void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                                 const char*, va_list) { return code; },
                              nullptr);
}

}  // namespace nplus1::events::otf2
