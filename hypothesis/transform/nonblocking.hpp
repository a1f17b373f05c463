// Blocking sends and receives made non-blocking: posted earlier, waited for later.
//
// Selected calls that follow each other at once (exchanges.hpp) are one exchange: its receives are posted first,
// then its sends start, then all are waited for together; a call that stands alone is an exchange of one. An
// exchange ends where another call or computing intervenes, where memory is used twice (a receive into what was
// sent or received just before), and before a send of what the exchange has just received, as far as contents
// show that; with dependent=yes, before any send behind a receive.
//
// The receives of an exchange are posted `post` computing intervals of its thread earlier (1: before the
// computing in front of it), and waited for at its end, or `wait` intervals later; its sends are waited for
// `wait` intervals later (1: before the next call). Neither crosses a call of the thread whose buffer
// overlaps (as far as the recording knows buffers), nor a receive or probe that might take the same message,
// nor the end. That the program's own computing does not touch the buffer meanwhile is assumed: the recording
// does not know.
#pragma once

#include <memory>

#include "hypothesis/transform/selectors.hpp"
#include "hypothesis/transform/transform.hpp"

namespace nplus1::hypothesis::transform {

/// Verb `nonblocking`: a selection of messages, post (1), wait (of sends 1, of receives 0), dependent (no).
[[nodiscard]] Result<std::unique_ptr<Transform>> make_nonblocking(const Step& step,
                                                                  const events::DefinitionsCollector& names);

}  // namespace nplus1::hypothesis::transform
