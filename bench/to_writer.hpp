// What an engine finds out, straight into a recording: for benchmarks that record synthetic programs.
#pragma once

#include <vector>

#include "events/sink.hpp"
#include "simnode/engine/engine.hpp"

namespace nplus1::bench {

class ToWriter final : public simnode::engine::Listener {
 public:
  ToWriter(int ranks, events::EventSink& sink) : sink_{sink}, ordinals_(static_cast<std::size_t>(ranks)) {}
  void on_exit(const events::TimedEvent& event) override {
    events::TimedEvent numbered = event;
    numbered.ordinal = ordinals_[event.rank.index()]++;
    numbered.detail = &detail_;
    sink_.on_event(numbered);
  }
  void on_match(RankId receiver, const events::Answer& match) override { sink_.on_match(receiver, match); }

 private:
  events::EventSink& sink_;
  std::vector<std::uint64_t> ordinals_;
  events::Detail detail_;
};

}  // namespace nplus1::bench
