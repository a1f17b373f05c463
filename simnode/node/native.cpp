// The node's part in native recordings: no engine is asked, the ranks say how their calls came out.
#include <cstring>

#include "simnode/node/node.hpp"

namespace nplus1::simnode::node {

/// Statistics see every call, the recording those that the rank wants kept.
class Node::NativeSink final : public events::EventSink {
 public:
  explicit NativeSink(Node& node) : node_{node} {}
  void on_event(const events::TimedEvent& event) override {
    node_.sinks_.on_event(event);
    if (node_.writer_ && event.detail != nullptr) node_.writer_->on_event(event);
  }
  void on_match(RankId receiver, const events::Answer& match) override {
    node_.sinks_.on_match(receiver, match);
    if (node_.writer_) node_.writer_->on_match(receiver, match);
  }

 private:
  Node& node_;
};

void Node::begin_native() {
  native_sink_ = std::make_unique<NativeSink>(*this);
  native_ = std::make_unique<NativeStream>(ranks_.size(), *native_sink_);
}

/// An event of a rank, ids global, or how its last one came out.
void Node::take_native(RankId rank, const events::Event& event, std::span<const std::byte> extension,
                       const events::Detail* detail) {
  if (event.kind != events::EventKind::kOutcome)
    return native_->take(rank, event, Translator::lists(event, extension), detail);
  events::Answer answer;
  if (extension.size() < sizeof(answer)) return;
  std::memcpy(&answer, extension.data(), sizeof(answer));
  const std::size_t room = (extension.size() - sizeof(answer)) / sizeof(std::uint32_t);
  std::vector<std::uint32_t> completed(std::min<std::size_t>(event.aux, room));
  std::memcpy(completed.data(), extension.data() + sizeof(answer), completed.size() * sizeof(std::uint32_t));
  native_->take_outcome(rank, answer, std::move(completed));
}

void Node::finish_native() {
  native_->finish();
  if (native_->unknown_messages() > 0)
    notes_.push_back(std::to_string(native_->unknown_messages()) +
                     " messages were received whose sends were not told of: the job ended early");
}

}  // namespace nplus1::simnode::node
