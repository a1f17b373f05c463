#include "hypothesis/transform/chain.hpp"

#include "hypothesis/transform/compute.hpp"
#include "hypothesis/transform/insert.hpp"
#include "hypothesis/transform/messages.hpp"
#include "hypothesis/transform/nonblocking.hpp"
#include "hypothesis/transform/rank_order.hpp"
#include "hypothesis/transform/replace.hpp"
#include "hypothesis/transform/steady.hpp"
#include "hypothesis/transform/what_exists.hpp"

namespace nplus1::hypothesis::transform {
namespace {

using Made = Result<std::unique_ptr<Transform>>;

struct Maker {
  std::string_view verb;
  Made (*make)(const Step&, const events::DefinitionsCollector&);
  std::string (WhatExists::*what)() const;
};
constexpr Maker kMakers[] = {{"scale", make_scale, &WhatExists::computing},
                             {"balance", make_balance, &WhatExists::computing},
                             {"noise", make_noise, &WhatExists::computing},
                             {"steady", make_steady, &WhatExists::computing},
                             {"resize", make_resize, &WhatExists::messages},
                             {"delete", make_delete, &WhatExists::messages},
                             {"replace", make_replace, &WhatExists::messages},
                             {"insert", make_insert, &WhatExists::messages},
                             {"nonblocking", make_nonblocking, &WhatExists::messages}};

const Maker* maker_of(const Step& step) {
  for (const Maker& maker : kMakers)
    if (maker.verb == step.verb) return &maker;
  return nullptr;
}

/// A hypothesis about nothing: the remedy is what there is.
Error with_what_exists(Error error, const Maker& maker, const Play& play) {
  if (!error.remedy.empty()) return error;
  WhatExists what;
  if (const auto played = play(what, false); played) error.remedy = (what.*maker.what)();
  return error;
}

}  // namespace

Result<Chain> Chain::build(const std::vector<Step>& steps, const Play& play, Duration call_interval,
                           std::unique_ptr<Transform> first) {
  Chain chain;
  chain.call_interval_ = call_interval;
  if (first)
    if (const auto added = chain.add(std::move(first), play); !added) return added.error();
  for (const Step& step : steps) {
    events::DefinitionsCollector names;  // anew for each: a stage may have added communicators
    if (const auto played = play(chain.begin(names), true); !played) return played.error();
    const Maker* maker = maker_of(step);
    if (maker == nullptr) return Error{step.where + ": " + step.verb + " cannot be done", ""};
    auto stage = maker->make(step, names);
    if (!stage) return stage.error();
    const auto added = chain.add(std::move(stage).value(), play);
    if (!added) return with_what_exists(added.error(), *maker, play);
  }
  return chain;
}

Result<Done> Chain::add(std::unique_ptr<Transform> stage, const Play& play) {
  if (stages_.empty()) stages_.push_back(std::make_unique<RankOrder>());
  stage->charge_calls(call_interval_);
  if (events::EventSink* survey = stage->survey(); survey != nullptr) {
    if (const auto played = play(begin(*survey), false); !played) return played.error();
    finish();
    if (auto sound = stage->surveyed(); !sound) return sound;
  }
  stages_.push_back(std::move(stage));
  return Done{};
}

events::EventSink& Chain::begin(events::EventSink& next) {
  if (stages_.empty()) return next;
  // The last first: a stage may have definitions of its own to hand on.
  stages_.back()->begin(next);
  for (std::size_t i = stages_.size() - 1; i > 0; --i) stages_[i - 1]->begin(*stages_[i]);
  return *stages_.front();
}

void Chain::finish() {
  for (const auto& stage : stages_) stage->finish();
}

}  // namespace nplus1::hypothesis::transform
