// Operations whose messages say nothing: they are empty, or carry constants that anybody could have had by itself. What
// proves a barrier is who could have heard of whom; nothing proves a broadcast of a constant. Pure.
#pragma once

#include "detector/case.hpp"

namespace nplus1::detector {

/// The judge: a barrier, or a constant that one rank told all others (never more than possible).
[[nodiscard]] Judge signals(const Case& c);

}  // namespace nplus1::detector
