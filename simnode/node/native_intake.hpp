// The intake of native recordings: no engine is asked, the ranks say how their calls came out. Statistics see every call,
// the recording those that the rank wants kept. Of one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "events/event.hpp"
#include "events/recording/writer.hpp"
#include "events/sink.hpp"
#include "simnode/node/native_stream.hpp"
#include "support/ids.hpp"

namespace nplus1::simnode::node {

class NativeIntake {
 public:
  /// `writer`: null where nothing is recorded.
  NativeIntake(std::size_t ranks, events::EventSink& statistics, events::recording::Writer* writer)
      : kept_{statistics, writer}, stream_{ranks, kept_} {}

  /// An event of a rank, ids global, or how its last one came out.
  void take(RankId rank, const events::Event& event, std::span<const std::byte> extension,
            const events::Detail* detail);
  /// The job is over.
  void finish(std::vector<std::string>& notes);
  [[nodiscard]] std::uint64_t events() const { return stream_.events(); }

 private:
  class Kept final : public events::EventSink {
   public:
    Kept(events::EventSink& statistics, events::recording::Writer* writer)
        : statistics_{statistics}, writer_{writer} {}
    void on_event(const events::TimedEvent& event) override;
    void on_match(RankId receiver, const events::Answer& match) override;

   private:
    events::EventSink& statistics_;
    events::recording::Writer* writer_;
  };

  Kept kept_;
  NativeStream stream_;
};

}  // namespace nplus1::simnode::node
