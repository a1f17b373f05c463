// The search as Calotoiu, Siebert and Wolf (2012) describe it in section 4, next to ours for comparison: a backward
// replay that carries sets of receivers from the end of the run to its beginning, for each payload apart. Pure; one
// thread. Memory: a bit for each pair of ranks and message of the payload under consideration.
//
// What it finds: broadcasts to all processes of a communicator, whatever their pattern; exchanges of all with all
// that are made of them; a barrier, as such an exchange of nothing; with Send_To_Self (nplus1_send_to_self), and if
// it is all that its communicator does, one scatter, gather or reduction. What it does not, and our method does:
// groups of some processes of a communicator, repetitions with the same payload (they are one), data in pieces,
// constant payloads told apart from data.
//
// Payloads are independent of each other in it: any share of them may be searched by itself, and the findings of
// all shares be put together with absorb().
#pragma once

#include <span>

#include "detector/findings.hpp"

namespace nplus1::detector {

/// Broadcasts among `transfers`: all messages that have any of their payloads, in the order of sending.
[[nodiscard]] std::vector<Finding> backward_replay(std::span<const Transfer> transfers, std::int32_t ranks,
                                                   const events::DefinitionsCollector& definitions);

/// What concentrates or splits data, with captured parts: all messages of the communicators in `transfers`.
[[nodiscard]] std::vector<Finding> forward_replay(const Transfers& transfers,
                                                  const events::DefinitionsCollector& definitions);

/// Findings of one kind, group and place in the program become one.
void absorb(std::vector<Finding>& into, std::vector<Finding> from);

/// Broadcasts from every process of a group to it: an exchange of all with all. After all shares are together.
void compose(std::vector<Finding>& findings);

/// All of it, in the order of find_collectives().
[[nodiscard]] std::vector<Finding> find_as_in_paper(const Transfers& transfers,
                                                    const events::DefinitionsCollector& definitions);

}  // namespace nplus1::detector
