// Transformations of point-to-point messages: their sizes, and whether they are sent at all.
#pragma once

#include <memory>
#include <unordered_set>

#include "hypothesis/transform/message_survey.hpp"
#include "hypothesis/transform/transform.hpp"

namespace nplus1::hypothesis::transform {

/// Requests that a stage takes away with the calls that made them: calls that wait for nothing else, or test
/// nothing else, go with them.
class GoneRequests {
 public:
  void clear() { gone_.clear(); }
  /// Before the stage decides about `call`: whether it completes nothing but what is gone.
  [[nodiscard]] bool all_that_is_waited_for(RankId rank, const Call& call);
  /// After that: `made` as recorded; `removed`, whether the stage takes it away.
  void note(RankId rank, const events::Event& made, bool removed);

 private:
  std::unordered_set<std::uint64_t> gone_;  // by rank and request
};

/// What transformations of selected messages have in common: the calls at both ends are marked.
class MessageTransform : public Transform {
 public:
  MessageTransform(MessageSelector selector, std::string nothing);
  [[nodiscard]] events::EventSink* survey() override { return &survey_; }
  [[nodiscard]] Result<Done> surveyed() override;

 protected:
  /// A send, receive, or probe of a selected message.
  virtual void change_message(RankId rank, Call& call) = 0;
  void change(RankId rank, std::uint64_t ordinal, Call& call) override;

 private:
  void select(const MessageCalls& message);

  MessageSelector selector_;
  std::string nothing_;
  MessageSurvey survey_;
  Marks marks_;
  std::uint64_t selected_ = 0;
};

/// Matching probes become plain ones, and receives of what they took receives by name: where messages come or
/// go, the numbers that these calls rest on change. Source and tag are taken from the answer.
void loosen_matched(Call& call);

[[nodiscard]] Result<std::unique_ptr<Transform>> make_resize(const Step& step,
                                                             const events::DefinitionsCollector& names);
[[nodiscard]] Result<std::unique_ptr<Transform>> make_delete(const Step& step,
                                                             const events::DefinitionsCollector& names);

}  // namespace nplus1::hypothesis::transform
