// Several sinks as one, in the order in which they were added. They must outlive it.
#pragma once

#include <vector>

#include "events/sink.hpp"

namespace nplus1::events {

class SinkList final : public EventSink {
 public:
  void add(EventSink& sink) { sinks_.push_back(&sink); }

  void on_event(const TimedEvent& event) override {
    for (EventSink* s : sinks_) s->on_event(event);
  }
  void on_match(RankId receiver, const Answer& match) override {
    for (EventSink* s : sinks_) s->on_match(receiver, match);
  }
  void on_communicator(const Communicator& communicator) override {
    for (EventSink* s : sinks_) s->on_communicator(communicator);
  }
  void on_call_path(const CallPath& path) override {
    for (EventSink* s : sinks_) s->on_call_path(path);
  }
  void on_region(const Region& region) override {
    for (EventSink* s : sinks_) s->on_region(region);
  }
  void on_datatype(const Datatype& datatype) override {
    for (EventSink* s : sinks_) s->on_datatype(datatype);
  }

 private:
  std::vector<EventSink*> sinks_;
};

}  // namespace nplus1::events
