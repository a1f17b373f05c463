// toml++ without its assertions. It asserts what any file can violate ("[" and a control character: toml++ 3.3), and only
// then reports it as an error: with assertions it aborts, and without them clang is told that it cannot happen. Whoever
// defines TOML_EXCEPTIONS does so before this.
#pragma once

#pragma push_macro("NDEBUG")
#undef NDEBUG
#ifndef TOML_ASSERT
#define TOML_ASSERT(...) static_assert(true)
#endif
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
