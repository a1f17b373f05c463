// From instances of one operation to the finding that is reported; of several analysers each makes a part of it, of
// the instances that it has found. Pure; one thread.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "detector/findings.hpp"
#include "detector/instances.hpp"

namespace nplus1::detector {

template <class T>
void add_new(std::vector<T>& to, const std::vector<T>& more) {
  for (const T& item : more)
    if (std::ranges::find(to, item) == to.end()) to.push_back(item);
}

/// Of calls that take part, and of who called the functions that these are in: in a library's wrapper for MPI_Send
/// only the latter tell which operation it is. "file:line", each once.
struct SourceLines {
  std::vector<std::string> lines;
  std::vector<std::string> callers;  // none where the path ends, or its source is not known
};
void add_new(SourceLines& to, const SourceLines& more);
/// Adds to the finding's own, ascending.
void add_new(Finding& to, const SourceLines& more);

class FindingParts {
 public:
  FindingParts(const Transfers& transfers, const events::DefinitionsCollector& definitions, Keep keep)
      : transfers_{transfers}, definitions_{definitions}, keep_{keep} {}

  [[nodiscard]] SourceLines lines_of(const Instance& instance);
  /// `instances` of one kind on the same ranks, not none, in the order in which they were sent.
  [[nodiscard]] Finding part(const std::vector<Instance>& instances) const;

 private:
  const SourceLines& lines_of(CallSiteId site);
  [[nodiscard]] Occurrence occurrence(const Instance& instance) const;
  [[nodiscard]] bool is_polled(const std::vector<Instance>& instances) const;

  const Transfers& transfers_;
  const events::DefinitionsCollector& definitions_;
  Keep keep_;
  std::unordered_map<CallSiteId, SourceLines> lines_;
};

/// Parts of one finding, not none, as one, with the conclusions that only the whole allows: of the same ranks, or of
/// groups without a rank in common. No payload is in two of the same ranks.
[[nodiscard]] Finding whole(std::vector<Finding> parts, const events::DefinitionsCollector& definitions,
                            std::int32_t world, Keep keep);

}  // namespace nplus1::detector
