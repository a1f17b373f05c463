#include "patterns/observers.hpp"

#include <utility>

namespace nplus1::patterns {

Observers::Observers(std::size_t ranks, const netmodel::NetworkModel* network,
                     const netmodel::Selection* collectives)
    : statistics_{ranks, network, collectives}, timeline_{ranks} {
  for (const MakeAnalyser& make : analysers()) analysers_.push_back(make(ranks));
}

void Observers::add_to(events::SinkList& sinks) {
  sinks.add(statistics_);
  sinks.add(timeline_);
  for (const auto& analyser : analysers_) sinks.add(*analyser);
}

Observed Observers::observed(const std::string& application, const std::string& network,
                             std::optional<netmodel::LinkUsage> links) {
  Patterns patterns = statistics_.patterns();
  patterns.application = application;
  patterns.network = network;
  Observed observed{std::move(patterns), timeline_.json(), std::move(links), {}};
  for (const auto& analyser : analysers_)
    if (std::string document = analyser->document(); !document.empty())
      observed.documents.emplace_back(analyser->name(), std::move(document));
  return observed;
}

}  // namespace nplus1::patterns
