#include "simnode/node/native_intake.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "simnode/node/translator.hpp"

namespace nplus1::simnode::node {

void NativeIntake::Kept::on_event(const events::TimedEvent& event) {
  statistics_.on_event(event);
  if (writer_ != nullptr && event.detail != nullptr) writer_->on_event(event);
}

void NativeIntake::Kept::on_match(RankId receiver, const events::Answer& match) {
  statistics_.on_match(receiver, match);
  if (writer_ != nullptr) writer_->on_match(receiver, match);
}

void NativeIntake::take(RankId rank, const events::Event& event, std::span<const std::byte> extension,
                        const events::Detail* detail) {
  if (event.kind != events::EventKind::kOutcome)
    return stream_.take(rank, event, Translator::lists(event, extension), detail);
  events::Answer answer;
  if (extension.size() < sizeof(answer)) return;
  std::memcpy(&answer, extension.data(), sizeof(answer));
  const std::size_t room = (extension.size() - sizeof(answer)) / sizeof(std::uint32_t);
  std::vector<std::uint32_t> completed(std::min<std::size_t>(event.aux, room));
  if (!completed.empty())
    std::memcpy(completed.data(), extension.data() + sizeof(answer),
                completed.size() * sizeof(std::uint32_t));
  stream_.take_outcome(rank, answer, std::move(completed));
}

void NativeIntake::finish(std::vector<std::string>& notes) {
  stream_.finish();
  if (stream_.unknown_messages() > 0)
    notes.push_back(std::to_string(stream_.unknown_messages()) +
                    " messages were received whose sends were not told of: the job ended early");
}

}  // namespace nplus1::simnode::node
