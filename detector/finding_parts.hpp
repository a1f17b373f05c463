// From instances of one operation to the finding that is reported; of several analysers each makes a part of it, of
// the instances that it has found. Pure; one thread.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "detector/findings.hpp"
#include "detector/instances.hpp"

namespace nplus1::detector {

class FindingParts {
 public:
  FindingParts(const Transfers& transfers, const events::DefinitionsCollector& definitions, Keep keep)
      : transfers_{transfers}, definitions_{definitions}, keep_{keep} {}

  /// "file:line" of all its calls, ascending.
  [[nodiscard]] std::vector<std::string> lines_of(const Instance& instance);
  /// `instances` of one kind on the same ranks, not none, in the order in which they were sent.
  [[nodiscard]] Finding part(const std::vector<Instance>& instances) const;

 private:
  const std::string& line(CallSiteId site);
  [[nodiscard]] Occurrence occurrence(const Instance& instance) const;
  [[nodiscard]] bool is_polled(const std::vector<Instance>& instances) const;

  const Transfers& transfers_;
  const events::DefinitionsCollector& definitions_;
  Keep keep_;
  std::unordered_map<CallSiteId, std::string> lines_;
};

/// Parts of one finding, not none, as one, with the conclusions that only the whole allows. No payload is in two.
[[nodiscard]] Finding whole(std::vector<Finding> parts, const events::DefinitionsCollector& definitions,
                            std::int32_t world, Keep keep);

template <class T>
void add_new(std::vector<T>& to, const std::vector<T>& more) {
  for (const T& item : more)
    if (std::ranges::find(to, item) == to.end()) to.push_back(item);
}

}  // namespace nplus1::detector
