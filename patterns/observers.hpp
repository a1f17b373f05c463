// What watches a run for its result folder: message statistics, timeline, and the analysers. Assembled here for the live
// simulator and for replays. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/sink_list.hpp"
#include "netmodel/link_usage.hpp"
#include "patterns/analyser.hpp"
#include "patterns/message_statistics.hpp"
#include "patterns/result_folder.hpp"
#include "patterns/timeline.hpp"

namespace nplus1::patterns {

class Observers {
 public:
  /// Network and algorithms as of MessageStatistics; they must outlive this.
  Observers(std::size_t ranks, const netmodel::NetworkModel* network, const netmodel::Selection* collectives);

  void add_to(events::SinkList& sinks);
  [[nodiscard]] const MessageStatistics& statistics() const { return statistics_; }

  /// Once all is over.
  [[nodiscard]] Observed observed(const std::string& application, const std::string& network,
                                  std::optional<netmodel::LinkUsage> links);

 private:
  MessageStatistics statistics_;
  Timeline timeline_;
  std::vector<std::unique_ptr<Analyser>> analysers_;
};

}  // namespace nplus1::patterns
