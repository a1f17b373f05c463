// Blocking sends and receives made non-blocking: posted earlier, waited for later.
//
// A receive is posted `post` computing intervals of its thread earlier (1: before the computing in front of
// it), and waited for where it was, or `wait` intervals later; a send starts where it was and is waited for
// `wait` intervals later (1: before the next call). Neither crosses a call of the thread whose buffer
// overlaps (as far as the recording knows buffers), nor a receive or probe that might take the same message,
// nor the end. That the program's own computing does not touch the buffer meanwhile is assumed: the recording
// does not know.
#pragma once

#include <memory>

#include "hypothesis/transform/selectors.hpp"
#include "hypothesis/transform/transform.hpp"

namespace nplus1::hypothesis::transform {

/// Verb `nonblocking`: a selection of messages, post (1), wait (of sends 1, of receives 0).
[[nodiscard]] Result<std::unique_ptr<Transform>> make_nonblocking(const Step& step,
                                                                  const events::DefinitionsCollector& names);

}  // namespace nplus1::hypothesis::transform
