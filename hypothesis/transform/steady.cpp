#include "hypothesis/transform/steady.hpp"

#include <algorithm>

#include "events/limits.hpp"

namespace nplus1::hypothesis::transform {
namespace {

class Steady final : public Transform {
 public:
  Steady(const IntervalSelector& selector, std::string nothing)
      : selector_{selector}, survey_{selector}, counter_{selector}, nothing_{std::move(nothing)} {}

  [[nodiscard]] events::EventSink* survey() override { return &survey_; }

  [[nodiscard]] Result<Done> surveyed() override {
    groups_ = survey_.groups();
    if (groups_.empty()) return Error{nothing_, ""};
    for (const SteadyGroup& group : groups_)
      for (std::size_t i = 0; i < group.ranks.size(); ++i)
        if (group.parts && !group.parts->exact())
          part_of_[{group.ranks[i], {group.after, group.before}}] = {&*group.parts, i};
    return Done{};
  }

 private:
  struct Part {
    const TwoWay* of;
    std::size_t place;
  };

  void restart() override { counter_ = StepCounter{selector_}; }

  void change(RankId rank, std::uint64_t /*ordinal*/, Call& call) override {
    const auto at = counter_.next(rank, call.event);
    if (!at) return;
    const auto part = part_of_.find({rank.index(), at->kind});
    if (part != part_of_.end())
      call.event.compute_ps =
          events::rounded_within(part->second.of->steady(part->second.place, at->step)).count();
  }

  IntervalSelector selector_;
  SteadySurvey survey_;
  StepCounter counter_;
  std::string nothing_;
  std::vector<SteadyGroup> groups_;
  std::map<std::pair<std::size_t, IntervalKind>, Part> part_of_;
};

}  // namespace

std::optional<StepCounter::Place> StepCounter::next(RankId rank, const events::Event& event) {
  const auto kind = tracker_.next(rank, event);
  if (!kind) return std::nullopt;
  return Place{*kind, steps_[{rank.index(), *kind}]++};
}

void SteadySurvey::on_event(const events::TimedEvent& timed) {
  const auto at = counter_.next(timed.rank, timed.event);
  if (!at) return;
  times_[at->kind][timed.rank.index()].push_back(
      static_cast<float>(std::max<std::int64_t>(0, timed.event.compute_ps)));
}

std::vector<SteadyGroup> SteadySurvey::groups() {
  std::vector<SteadyGroup> all;
  for (auto& [kind, by_rank] : times_) {
    std::map<std::size_t, std::vector<std::size_t>> by_count;
    for (const auto& [rank, times] : by_rank) by_count[times.size()].push_back(rank);
    for (auto& [count, ranks] : by_count) {
      SteadyGroup& group = all.emplace_back();
      group.after = kind.first;
      group.before = kind.second;
      group.steps = count;
      std::vector<std::vector<float>> times;
      for (const std::size_t rank : ranks) {
        for (const float time : by_rank[rank]) group.time += static_cast<double>(time);
        times.push_back(std::move(by_rank[rank]));
      }
      group.ranks = std::move(ranks);
      if (times.size() >= 2 && count >= 2) group.parts.emplace(times);
    }
  }
  times_.clear();
  return all;
}

Result<std::unique_ptr<Transform>> make_steady(const Step& step, const events::DefinitionsCollector& names) {
  const auto selector = IntervalSelector::of(step, names);
  if (!selector) return selector.error();
  return std::unique_ptr<Transform>{std::make_unique<Steady>(
      selector.value(), step.where + ": '" + step.text() + "' is about no computing in the recording")};
}

}  // namespace nplus1::hypothesis::transform
