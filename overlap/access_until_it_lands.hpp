#pragma once
#include <cstdint>
namespace nplus1::events {
enum class Access : std::uint8_t { kFirstTouch = 16, kFirstWrite, kLastTouch, kEarlyTouch, kStatusUse };
}
