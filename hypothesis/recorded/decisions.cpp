#include "hypothesis/recorded/decisions.hpp"

namespace nplus1::hypothesis {
namespace {

using events::CompletionMode;
using events::Event;
using events::EventKind;

void name_message(const events::Answer& answer, Event& event) {
  if (answer.source < 0 || event.peer_rank() == kProcNull) return;
  event.peer = answer.source;
  event.tag = answer.tag;
}

/// The call waits for exactly what it completed.
void wait_for_completed(const events::TimedEvent& recorded, Event& event, events::Extension& lists,
                        std::vector<std::uint32_t>& words) {
  event.kind = EventKind::kWait;
  if (event.completion_mode() == CompletionMode::kAll) return;
  words.clear();
  for (const std::uint32_t position : recorded.completed)
    if (position < lists.words.size()) words.push_back(lists.words[position]);
  event.operation = static_cast<std::uint8_t>(CompletionMode::kAll);
  event.aux = words.size();
  lists.words = words;
}

}  // namespace

void repeat_decision(const events::TimedEvent& recorded, Event& event, events::Extension& lists,
                     std::vector<std::uint32_t>& words) {
  if (recorded.exit == events::kUnfinished) return;
  const events::Answer& answer = recorded.answer;
  switch (event.kind) {
    case EventKind::kIprobe:
      event.kind = answer.flag != 0 ? EventKind::kProbe : EventKind::kLocal;
      [[fallthrough]];
    case EventKind::kRecv:
    case EventKind::kProbe:
      if (!event.has(events::kMatched)) name_message(answer, event);
      break;
    case EventKind::kTest:
      if (answer.flag == 0 || event.has(events::kKeepsRequests))
        event.kind = EventKind::kLocal;
      else
        wait_for_completed(recorded, event, lists, words);
      break;
    case EventKind::kWait:
      wait_for_completed(recorded, event, lists, words);
      break;
    default:
      break;
  }
}

bool awaits_match(const Event& event) {
  return event.kind == EventKind::kIrecv && event.peer_rank() == kAnySource;
}

}  // namespace nplus1::hypothesis
