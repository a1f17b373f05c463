// Events made of fuzzer's choices: mostly what a run could have produced, so that analyses get far, with claims among
// them that no run could make.
#pragma once

#include <vector>

#include "events/sink.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {

class EventsOf {
 public:
  EventsOf(Choices& choices, std::int32_t ranks, events::EventSink& sink);
  /// Pauses may be accesses to the memory of messages.
  void with_accesses() { accesses_ = true; }
  /// Until the choices are used up, or `most` rows.
  void all(int most);

 private:
  struct Sent {
    std::int32_t to;
    std::int32_t tag;
    std::uint64_t sequence;
    std::int64_t size;
    std::int32_t from;
  };
  void definition();
  void row();
  void transfer(events::Event& event, events::Answer& answer);
  void completion(events::Event& event, events::Answer& answer);
  void collective(events::Event& event);
  void one_sided(events::Event& event);
  void file(events::Event& event);
  void access(events::Event& event);
  void detail(events::Detail& detail);
  void match();

  Choices& choices_;
  std::int32_t ranks_;
  events::EventSink& sink_;
  std::vector<std::size_t> members_;  // of communicators, by id
  std::vector<std::int64_t> clocks_;
  std::vector<std::uint64_t> ordinals_;
  std::vector<std::uint32_t> requests_;
  std::vector<Sent> sent_;
  std::vector<std::uint32_t> words_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::uint32_t> completed_;
  std::size_t rank_ = 0;
  bool accesses_ = false;
};

}  // namespace nplus1::fuzz
