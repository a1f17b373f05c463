#include "hypothesis/transform/messages.hpp"

#include <algorithm>
#include <unordered_set>

#include "events/limits.hpp"

namespace nplus1::hypothesis::transform {
namespace {

using events::EventKind;
using Names = events::DefinitionsCollector;

bool is_send(EventKind kind) {
  return kind == EventKind::kSend || kind == EventKind::kIsend;
}

bool is_receive(EventKind kind) {
  return kind == EventKind::kRecv || kind == EventKind::kIrecv;
}

class Resize final : public MessageTransform {
 public:
  Resize(MessageSelector selector, std::string nothing, double factor, std::int64_t bytes)
      : MessageTransform{std::move(selector), std::move(nothing)}, factor_{factor}, bytes_{bytes} {}

 private:
  void restart() override { receives_.clear(); }
  void change_message(RankId rank, Call& call) override {
    events::Event& event = call.event;
    if (is_send(event.kind)) event.size = resized(event.size);
    if (!is_receive(event.kind)) return;
    if (event.size > 0) event.size = std::max(event.size, resized(event.size));  // room, or unknown
    if (event.kind == EventKind::kIrecv) receives_.insert(key(rank, event.request.value));
    if (call.answer->size <= 0) return;
    answer_ = *call.answer;
    answer_.size = resized(answer_.size);
    call.answer = &answer_;
  }
  [[nodiscard]] bool keeps_match(RankId receiver, const events::Answer& match) override {
    if (receives_.erase(key(receiver, match.request.value)) == 0) return true;
    events::Answer resized_match = match;
    resized_match.size = resized(match.size);
    next().on_match(receiver, resized_match);
    return false;
  }
  [[nodiscard]] std::int64_t resized(std::int64_t size) const {
    return bytes_ >= 0 ? bytes_ : events::rounded_size(static_cast<double>(size) * factor_);
  }
  static std::uint64_t key(RankId rank, std::uint32_t request) {
    return static_cast<std::uint64_t>(rank.index()) << 32U | request;
  }

  double factor_;
  std::int64_t bytes_;  // -1: by factor
  events::Answer answer_;
  std::unordered_set<std::uint64_t> receives_;
};

class Delete final : public MessageTransform {
 public:
  using MessageTransform::MessageTransform;

 private:
  void restart() override {
    gone_.clear();
    requests_.clear();
  }
  void change(RankId rank, std::uint64_t ordinal, Call& call) override {
    loosen_matched(call);
    const events::Event made = call.event;
    if (requests_.all_that_is_waited_for(rank, call)) call.remove();
    MessageTransform::change(rank, ordinal, call);
    requests_.note(rank, made, call.removed);
  }
  void change_message(RankId rank, Call& call) override {
    if (call.event.kind == EventKind::kIrecv) gone_.insert(key(rank, call.event.request.value));
    call.remove();
  }
  [[nodiscard]] bool keeps_match(RankId receiver, const events::Answer& match) override {
    return gone_.erase(key(receiver, match.request.value)) == 0;
  }
  static std::uint64_t key(RankId rank, std::uint32_t request) {
    return static_cast<std::uint64_t>(rank.index()) << 32U | request;
  }
  std::unordered_set<std::uint64_t> gone_;  // receives whose match is still to come
  GoneRequests requests_;
};

std::string no_message_for(const Step& step) {
  return step.where + ": '" + step.text() + "' is about no message in the recording";
}

}  // namespace

MessageTransform::MessageTransform(MessageSelector selector, std::string nothing)
    : selector_{std::move(selector)},
      nothing_{std::move(nothing)},
      survey_{[this](const MessageCalls& message) { select(message); }} {}

void MessageTransform::select(const MessageCalls& m) {
  if (!selector_.matches({m.source, m.send_site}, {m.destination, m.receive_site}, m.tag, m.comm, m.size))
    return;
  ++selected_;
  marks_.set(m.source, m.sent);
  if (m.posted != MessageCalls::kNone) marks_.set(m.destination, m.posted);
  for (const std::uint64_t probe : m.probes) marks_.set(m.destination, probe);
}

Result<Done> MessageTransform::surveyed() {
  survey_.finish();
  if (selected_ == 0) return Error{nothing_, ""};
  return Done{};
}

void MessageTransform::change(RankId rank, std::uint64_t ordinal, Call& call) {
  if (marks_.has(rank, ordinal)) change_message(rank, call);
}

bool GoneRequests::all_that_is_waited_for(RankId rank, const Call& call) {
  if (call.event.kind != EventKind::kWait && call.event.kind != EventKind::kTest) return false;
  const auto& words = call.lists.words;
  return !words.empty() && std::all_of(words.begin(), words.end(), [&](std::uint32_t request) {
    return gone_.contains(static_cast<std::uint64_t>(rank.index()) << 32U | request);
  });
}

void GoneRequests::note(RankId rank, const events::Event& made, bool removed) {
  if (made.kind != EventKind::kIsend && made.kind != EventKind::kIrecv &&
      made.kind != EventKind::kIcollective)
    return;
  const auto key = static_cast<std::uint64_t>(rank.index()) << 32U | made.request.value;
  if (removed)
    gone_.insert(key);
  else
    gone_.erase(key);  // numbers are used again
}

void loosen_matched(Call& call) {
  events::Event& event = call.event;
  const bool receive = is_receive(event.kind) && event.has(events::kMatched);
  const bool probe = (event.kind == EventKind::kProbe || event.kind == EventKind::kIprobe) &&
                     event.has(events::kTakesMessage);
  if (receive) event.aux = 0;
  if (receive) event.flags &= static_cast<std::uint8_t>(~events::kMatched);
  if (probe) event.flags &= static_cast<std::uint8_t>(~events::kTakesMessage);
}

Result<std::unique_ptr<Transform>> make_resize(const Step& step, const Names& names) {
  auto selector = MessageSelector::of(step, names);
  if (!selector) return selector.error();
  if ((step.find("factor") == nullptr) == (step.find("bytes") == nullptr))
    return Error{step.where + ": resize: how long should messages be?", "set either factor or bytes"};
  const auto factor = parse_factor(step, "factor", 1.0);
  if (!factor) return factor.error();
  const auto bytes = parse_bytes(step, "bytes", -1);
  if (!bytes) return bytes.error();
  return std::unique_ptr<Transform>{std::make_unique<Resize>(
      std::move(selector).value(), no_message_for(step), factor.value(), bytes.value())};
}

Result<std::unique_ptr<Transform>> make_delete(const Step& step, const Names& names) {
  auto selector = MessageSelector::of(step, names);
  if (!selector) return selector.error();
  return std::unique_ptr<Transform>{
      std::make_unique<Delete>(std::move(selector).value(), no_message_for(step))};
}

}  // namespace nplus1::hypothesis::transform
