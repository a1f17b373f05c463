// What events tell of messages, a step at a time: plain values that can be applied where they were read or sent to
// whoever has the rank. A reader plays a recording to a StepReader; its derived class gets the steps in order.
// One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "detector/content.hpp"
#include "events/definitions_collector.hpp"

namespace nplus1::detector {

enum class StepKind : std::uint8_t {
  kSent,
  kReceived,   // by a blocking call
  kPosted,     // a receive that another call completes
  kMatched,    // such a receive has met its message
  kCompleted,  // a request; whether it is a receive's, only its rank knows
  kCaptured,   // a part that the rank keeps
  kPolled,     // the rank has looked for a message
};

struct Step {
  Content content;  // of a receive only its bytes
  std::uint64_t buffer = 0;
  std::uint64_t sequence = 0;  // of the message
  std::int32_t rank = 0;
  std::int32_t peer = 0;  // destination, source
  std::int32_t tag = 0;   // of a captured part: events::OwnPart
  std::uint32_t request = 0;
  std::uint32_t ordinal = 0;  // of a send's event in its rank's stream
  CommId comm{};
  CallSiteId site{};
  DatatypeId datatype{};
  std::int32_t asked = 0;    // the source that a receive or a poll names, which may be any
  std::uint32_t number = 0;  // free for whoever passes it on
  StepKind kind{};
};

class StepReader : public events::DefinitionsCollector {
 public:
  void on_event(const events::TimedEvent& event) final;
  void on_match(RankId receiver, const events::Answer& match) final;

 protected:
  virtual void on_step(const Step& step) = 0;

 private:
  void on_send(const events::TimedEvent& event);
  void on_receive(const events::TimedEvent& event);
  void on_completion(const events::TimedEvent& event);
  void on_capture(const events::TimedEvent& event);
  void on_poll(const events::TimedEvent& event);
  void on_datatype(const events::Datatype& datatype) final;
  /// What is known of the data of `event`, of a type that was defined.
  [[nodiscard]] Content content(const events::TimedEvent& event) const;

  struct Elements {
    events::payload::ElementType type = events::payload::ElementType::kWords;
    std::uint8_t bytes = 0;  // of one number of a basic type; 0 of others
  };
  std::vector<Elements> elements_;  // by datatype
};

}  // namespace nplus1::detector
