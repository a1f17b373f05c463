// What stands out among all that the same lines of the program do is only possible: a coincidence, or part of something
// else. Looks at whole runs, across clusters: a library's wrapper for MPI_Send is one line with many callers. Pure; one
// thread.
#pragma once

#include <span>
#include <vector>

#include "detector/instances.hpp"
#include "events/definitions_collector.hpp"

namespace nplus1::detector {

/// `found`: what each cluster gave, some of one cluster in several lists. A line here is that of the MPI call together
/// with that of its caller.
/// Where more than a third of what an operation's lines send belongs to no operation, it is only possible. So is what
/// the same lines, or the same cluster, do far more often among more ranks, if the few are nobody's communicator.
void doubt_exceptions(const Transfers& transfers, const events::DefinitionsCollector& definitions,
                      std::span<std::vector<Instance>> found);

}  // namespace nplus1::detector
