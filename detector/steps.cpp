#include "detector/steps.hpp"

namespace nplus1::detector {
namespace {

using events::EventKind;

/// Where the data lie as one piece; 0: nowhere, or not known.
std::uint64_t place_of(const events::Detail* detail) {
  return detail == nullptr || (detail->content & events::kScattered) != 0 ? 0 : detail->buffer;
}

Step step_of(StepKind kind, const events::TimedEvent& event) {
  Step step;
  step.kind = kind;
  step.rank = event.rank.value;
  step.comm = event.event.comm;
  step.site = event.event.site;
  step.ordinal = static_cast<std::uint32_t>(event.ordinal);
  if (event.detail != nullptr) {
    step.buffer = event.detail->buffer;
    step.datatype = event.detail->datatype;
  }
  return step;
}

}  // namespace

void StepReader::on_datatype(const events::Datatype& datatype) {
  DefinitionsCollector::on_datatype(datatype);
  if (datatype.id.value >= elements_.size()) elements_.resize(datatype.id.value + std::size_t{1});
  elements_[datatype.id.value] = {
      events::payload::element_type(datatype.name, datatype.bytes),
      datatype.bytes <= 8 ? static_cast<std::uint8_t>(datatype.bytes) : std::uint8_t{0}};
}

Content StepReader::content(const events::TimedEvent& event) const {
  const std::size_t id = event.detail == nullptr ? 0 : event.detail->datatype.value;
  const Elements of = id < elements_.size() ? elements_[id] : Elements{};
  Content content = content_of(static_cast<std::uint64_t>(event.event.size), event.detail, of.type);
  content.element = of.bytes;
  return content;
}

void StepReader::on_send(const events::TimedEvent& event) {
  if (event.event.peer < 0 || event.exit == events::kUnfinished) return;
  Step step = step_of(StepKind::kSent, event);
  step.peer = event.event.peer;
  step.tag = event.event.tag;
  step.sequence = event.answer.sequence;
  step.content = content(event);
  on_step(step);
}

void StepReader::on_receive(const events::TimedEvent& event) {
  if (event.event.kind == EventKind::kIrecv) {
    Step step = step_of(StepKind::kPosted, event);
    step.buffer = place_of(event.detail);
    step.request = event.event.request.value;
    return on_step(step);
  }
  if (event.exit == events::kUnfinished || event.answer.source < 0) return;
  Step step = step_of(StepKind::kReceived, event);
  step.buffer = place_of(event.detail);
  step.asked = event.event.peer;
  step.tag = event.event.tag;
  step.peer = event.answer.source;
  step.sequence = event.answer.sequence;
  step.content.bytes = static_cast<std::uint64_t>(event.answer.size);
  on_step(step);
}

void StepReader::on_match(RankId receiver, const events::Answer& match) {
  Step step;
  step.kind = StepKind::kMatched;
  step.rank = receiver.value;
  step.peer = match.source;
  step.request = match.request.value;
  step.sequence = match.sequence;
  step.content.bytes = static_cast<std::uint64_t>(match.size);
  on_step(step);
}

void StepReader::on_completion(const events::TimedEvent& event) {
  const events::Event& e = event.event;
  if (event.exit == events::kUnfinished || (e.kind == EventKind::kTest && event.answer.flag == 0)) return;
  const auto requests = event.extension.words;
  Step step = step_of(StepKind::kCompleted, event);
  const auto take = [&](std::size_t i) {
    if (i >= requests.size() || requests[i] == 0) return;
    step.request = requests[i];
    on_step(step);
  };
  switch (e.completion_mode()) {
    case events::CompletionMode::kAll:
      for (std::size_t i = 0; i < requests.size(); ++i) take(i);
      break;
    case events::CompletionMode::kAny:
      if (event.answer.index >= 0) take(static_cast<std::size_t>(event.answer.index));
      break;
    case events::CompletionMode::kSome:
      for (const std::uint32_t i : event.completed) take(i);
      break;
  }
}

void StepReader::on_capture(const events::TimedEvent& event) {
  Step step = step_of(StepKind::kCaptured, event);
  step.content = content(event);
  step.peer = step.rank;
  step.tag = event.event.operation;
  on_step(step);
}

void StepReader::on_poll(const events::TimedEvent& event) {
  Step step = step_of(StepKind::kPolled, event);
  step.asked = event.event.peer;
  step.tag = event.event.tag;
  on_step(step);
}

void StepReader::on_event(const events::TimedEvent& event) {
  switch (event.event.kind) {
    case EventKind::kSend:
    case EventKind::kIsend:
      return on_send(event);
    case EventKind::kRecv:
    case EventKind::kIrecv:
      return on_receive(event);
    case EventKind::kWait:
    case EventKind::kTest:
      return on_completion(event);
    case EventKind::kIprobe:
      return on_poll(event);
    case EventKind::kLocal:
      if (event.detail != nullptr && (event.detail->content & events::kHasPrefix) != 0) on_capture(event);
      return;
    default:
      return;
  }
}

}  // namespace nplus1::detector
