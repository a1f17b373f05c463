// What a recording has that a hypothesis could be about: for messages to users whose hypothesis is about
// nothing. A sink; feed it the whole recording. Memory: per region, call path and tag.
#pragma once

#include <map>
#include <string>

#include "events/definitions_collector.hpp"

namespace nplus1::hypothesis::transform {

class WhatExists final : public events::EventSink {
 public:
  void on_event(const events::TimedEvent& event) override;
  void on_call_path(const events::CallPath& path) override { names_.on_call_path(path); }
  void on_region(const events::Region& region) override { names_.on_region(region); }

  /// "regions: solve; computing before: halo.c:58, ...", the longest first.
  [[nodiscard]] std::string computing() const;
  /// "tags: 7, 8; sizes: 8..1024; call sites: halo.c:58, ...", the most used first.
  [[nodiscard]] std::string messages() const;

 private:
  events::DefinitionsCollector names_;
  std::map<std::uint32_t, std::int64_t> regions_;    // entered so often
  std::map<std::uint32_t, std::int64_t> computing_;  // ps, by call path behind it
  std::map<std::uint32_t, std::int64_t> calls_;      // sends and receives by call path
  std::map<std::int32_t, std::int64_t> tags_;        // messages sent
  std::int64_t smallest_ = -1, largest_ = -1;
  std::int32_t ranks_ = 0;
};

/// "halo.c:58", "app+0x1373" or "#12": how a selector can name a call path.
[[nodiscard]] std::string place_of_path(std::uint32_t path, const events::DefinitionsCollector& names);

}  // namespace nplus1::hypothesis::transform
