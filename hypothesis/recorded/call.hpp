// A recorded call that waits for its turn, with what it came to when it was recorded. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "events/event.hpp"
#include "events/sink.hpp"

namespace nplus1::hypothesis {

struct RecordedCall {
  events::Event event;
  std::optional<events::Detail> detail;
  std::vector<std::uint32_t> words;
  std::vector<std::int64_t> sizes;

  // In the recording:
  events::EventKind kind{};
  bool finished = false;
  events::Answer answer;                 // docs/formats/events.md, "Answers"
  std::vector<std::uint32_t> completed;  // kAny, kSome: positions in `words`
  Duration took{};                       // from entry to exit

  [[nodiscard]] const events::Detail* detail_or_null() const { return detail ? &*detail : nullptr; }

  void assign(const events::TimedEvent& recorded) {
    event = recorded.event;
    if (recorded.detail != nullptr)
      detail = *recorded.detail;
    else
      detail.reset();
    copy(recorded.extension.words, words);
    copy(recorded.extension.sizes, sizes);
    kind = event.kind;
    finished = recorded.exit != events::kUnfinished;
    answer = recorded.answer;
    copy(recorded.completed, completed);
    took = finished ? recorded.exit - recorded.event.entry() : Duration{};
  }

 private:
  /// Most lists are empty: that costs no call.
  template <class T>
  static void copy(std::span<const T> from, std::vector<T>& to) {
    to.clear();
    if (!from.empty()) to.assign(from.begin(), from.end());
  }
};

}  // namespace nplus1::hypothesis
