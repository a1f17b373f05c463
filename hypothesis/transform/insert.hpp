// Messages that the program does not send: at each call at a place, the ranks `from` send one to each rank
// `to`, before that call. Sends are non-blocking and waited for after the receives, so that ranks may do
// both.
#pragma once

#include <memory>

#include "hypothesis/transform/selectors.hpp"
#include "hypothesis/transform/transform.hpp"

namespace nplus1::hypothesis::transform {

/// Verb `insert`: from, to, at, tag, bytes. Errors: ranks that are not there, or do not come to that place
/// equally often.
[[nodiscard]] Result<std::unique_ptr<Transform>> make_insert(const Step& step,
                                                             const events::DefinitionsCollector& names);

/// Requests of inserted calls have numbers from here on, each verb in a quarter of its own.
inline constexpr std::uint32_t kFirstInsertedRequest = 0x80000000U;
inline constexpr std::uint32_t kFirstConvertedRequest = 0xC0000000U;

}  // namespace nplus1::hypothesis::transform
