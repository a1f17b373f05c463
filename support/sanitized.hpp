// Whether a sanitizer that reserves terabytes of addresses watches this program: limits of memory must not hold then.
// GCC says so by macros, clang by features.
#pragma once

namespace nplus1 {

#if defined(__has_feature)
#define NPLUS1_HAS_FEATURE(name) __has_feature(name)
#else
#define NPLUS1_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    NPLUS1_HAS_FEATURE(address_sanitizer) || NPLUS1_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kReservesAddresses = true;
#else
inline constexpr bool kReservesAddresses = false;
#endif

#undef NPLUS1_HAS_FEATURE

}  // namespace nplus1
