// Shares after each change against filling all links from nothing, and closed forms.
#include "netmodel/flows/max_min.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace nplus1::netmodel {
namespace {

using Link = MaxMin::Link;
using Use = MaxMin::Use;
constexpr double kUnbounded = 1e30;

double rate_of(MaxMin& shares, MaxMin::Flow flow) {
  std::vector<MaxMin::Flow> changed;
  shares.settle(changed);
  return shares.rate(flow);
}

TEST(MaxMin, GivesEqualFlowsEqualShares) {
  MaxMin shares;
  const Link link = shares.add_link(12, MaxMin::Sharing::kShared);
  const std::vector<Use> uses{{link, 1}};
  const auto a = shares.add(1, kUnbounded, uses);
  EXPECT_DOUBLE_EQ(rate_of(shares, a), 12);
  const auto b = shares.add(1, kUnbounded, uses);
  const auto c = shares.add(1, kUnbounded, uses);
  EXPECT_DOUBLE_EQ(rate_of(shares, a), 4);
  EXPECT_DOUBLE_EQ(rate_of(shares, c), 4);
  shares.remove(b);
  EXPECT_DOUBLE_EQ(rate_of(shares, a), 6);
  EXPECT_DOUBLE_EQ(shares.used(link), 12);
}

TEST(MaxMin, GivesLessToHeavierFlowsAndTheRestToOthers) {
  MaxMin shares;
  const Link link = shares.add_link(12, MaxMin::Sharing::kShared);
  const std::vector<Use> uses{{link, 1}};
  const auto heavy = shares.add(2, kUnbounded, uses);
  const auto light = shares.add(1, kUnbounded, uses);
  EXPECT_DOUBLE_EQ(rate_of(shares, heavy), 4);
  EXPECT_DOUBLE_EQ(rate_of(shares, light), 8);
  const auto bounded = shares.add(1, 3, uses);
  EXPECT_DOUBLE_EQ(rate_of(shares, heavy), 3);
  EXPECT_DOUBLE_EQ(rate_of(shares, light), 6);
  EXPECT_DOUBLE_EQ(rate_of(shares, bounded), 3);
}

/// D. Bertsekas, R. Gallager, Data Networks, figure 6.14: the long flow gets its share of the narrowest link, those
/// beside it the rest of theirs.
TEST(MaxMin, FillsWhatANarrowerLinkLeaves) {
  MaxMin shares;
  const Link wide = shares.add_link(9, MaxMin::Sharing::kShared);
  const Link narrow = shares.add_link(3, MaxMin::Sharing::kShared);
  const auto both = shares.add(1, kUnbounded, std::vector<Use>{{wide, 1}, {narrow, 1}});
  const auto first = shares.add(1, kUnbounded, std::vector<Use>{{wide, 1}});
  const auto second = shares.add(1, kUnbounded, std::vector<Use>{{narrow, 1}});
  EXPECT_DOUBLE_EQ(rate_of(shares, both), 1.5);
  EXPECT_DOUBLE_EQ(rate_of(shares, second), 1.5);
  EXPECT_DOUBLE_EQ(rate_of(shares, first), 7.5);
}

TEST(MaxMin, GivesEachFlowOfAFatPipeAllOfIt) {
  MaxMin shares;
  const Link pipe = shares.add_link(5, MaxMin::Sharing::kFatPipe);
  const std::vector<Use> uses{{pipe, 1}};
  const auto a = shares.add(1, kUnbounded, uses);
  const auto b = shares.add(1, kUnbounded, uses);
  const auto slow = shares.add(1, 2, uses);
  EXPECT_DOUBLE_EQ(rate_of(shares, a), 5);
  EXPECT_DOUBLE_EQ(rate_of(shares, b), 5);
  EXPECT_DOUBLE_EQ(rate_of(shares, slow), 2);
}

/// A fat pipe that is the narrowest link of two routes, whose weights are the same but for the order in which latencies were
/// added up: the product of bound and weight is what taking all of the pipe needs for one, and less in its last digit for
/// the other. SimGrid (maxmin_solve) lets both have their bound then, and the pipe stops nobody. The numbers are of a random
/// platform (bench/random_platforms.py, 119 under CM02).
TEST(MaxMin, LetsFlowsPassThatFallShortOfAFatPipeByRoundingAlone) {
  constexpr double kCapacity = 61416800;
  constexpr double kWeight = 1.706434e-06;
  const double more = std::nextafter(kWeight, 1);
  ASSERT_LT(kCapacity * kWeight, kCapacity / (1 / kWeight));
  ASSERT_GE(kCapacity * more, kCapacity / (1 / more));
  MaxMin shares;
  const Link pipe = shares.add_link(kCapacity, MaxMin::Sharing::kFatPipe);
  const auto heavy = shares.add(1.75062e-07, 8140060000, std::vector<Use>{{pipe, 0.05}});
  EXPECT_DOUBLE_EQ(rate_of(shares, heavy), kCapacity / 0.05);
  const auto all = shares.add(more, kCapacity, std::vector<Use>{{pipe, 1}});
  EXPECT_DOUBLE_EQ(rate_of(shares, all), kCapacity);
  EXPECT_DOUBLE_EQ(rate_of(shares, heavy), kCapacity * more / 1.75062e-07);
  const auto less = shares.add(kWeight, kCapacity, std::vector<Use>{{pipe, 1}});
  EXPECT_DOUBLE_EQ(rate_of(shares, all), kCapacity);
  EXPECT_DOUBLE_EQ(rate_of(shares, less), kCapacity);
  EXPECT_DOUBLE_EQ(rate_of(shares, heavy), kCapacity / 0.05);
  shares.remove(less);
  EXPECT_DOUBLE_EQ(rate_of(shares, heavy), kCapacity * more / 1.75062e-07);
}

TEST(MaxMin, TellsOnlyOfFlowsWhoseRateChanges) {
  MaxMin shares;
  const Link left = shares.add_link(10, MaxMin::Sharing::kShared);
  const Link right = shares.add_link(10, MaxMin::Sharing::kShared);
  const auto a = shares.add(1, kUnbounded, std::vector<Use>{{left, 1}});
  const auto b = shares.add(1, kUnbounded, std::vector<Use>{{right, 1}});
  std::vector<MaxMin::Flow> changed;
  shares.settle(changed);
  EXPECT_EQ(changed, (std::vector<MaxMin::Flow>{a, b}));
  changed.clear();
  const auto c = shares.add(1, kUnbounded, std::vector<Use>{{right, 1}});
  shares.settle(changed);
  std::ranges::sort(changed);
  EXPECT_EQ(changed, (std::vector<MaxMin::Flow>{b, c}));
}

TEST(MaxMin, CountsWhatAnEventTouches) {
  MaxMin shares;
  std::vector<MaxMin::Flow> changed;
  for (int pair = 0; pair < 10; ++pair) {  // ten links that have nothing to do with each other
    const Link link = shares.add_link(10, MaxMin::Sharing::kShared);
    shares.add(1, kUnbounded, std::vector<Use>{{link, 1}});
    shares.add(1, kUnbounded, std::vector<Use>{{link, 1}});
  }
  shares.settle(changed);
  const MaxMin::Effort before = shares.effort();
  EXPECT_EQ(before.changed, 20U);
  EXPECT_EQ(before.present, 20U);
  shares.remove(0);
  shares.settle(changed);
  EXPECT_EQ(shares.effort().settled, 2U);
  EXPECT_EQ(shares.effort().links - before.links, 1U);
  EXPECT_EQ(shares.effort().changed - before.changed, 1U);
  EXPECT_EQ(shares.effort().present - before.present, 19U);
}

/// Links, and flows that come and go, with the shares that progressive filling gives them: all levels rise together, and a
/// flow stays behind where its bound or one of its links is reached. The rule of fat pipes is SimGrid's.
class World {
 public:
  explicit World(unsigned seed) : draw_{seed} {
    const std::size_t links = 1 + draw_() % 12;
    const bool like_hosts = draw_() % 2 == 0;  // equal capacities, so that many links are full at once
    for (std::size_t l = 0; l < links; ++l) {
      const double capacity = like_hosts ? 1.25e9 : std::pow(10.0, unit(6, 10));
      const auto sharing = draw_() % 8 == 0 ? MaxMin::Sharing::kFatPipe : MaxMin::Sharing::kShared;
      capacities_.push_back(capacity);
      sharings_.push_back(sharing);
      shares_.add_link(capacity, sharing);
    }
    equal_ = draw_() % 2 == 0;
  }

  void change() {
    const std::size_t times = 1 + draw_() % 4;
    for (std::size_t i = 0; i < times; ++i)
      if (flows_.empty() || draw_() % 5 < 3)
        come();
      else
        go();
    std::vector<MaxMin::Flow> changed;
    shares_.settle(changed);
    for (const MaxMin::Flow f : changed) told_[f] = shares_.rate(f);
  }

  void check() {
    const std::map<MaxMin::Flow, double> expected = filled();
    for (const auto& [flow, rate] : expected) {
      EXPECT_NEAR(shares_.rate(flow) / rate, 1, 1e-10);
      EXPECT_NEAR(told_[flow] / shares_.rate(flow), 1, 1e-10);
    }
    std::vector<double> used(capacities_.size());
    for (const auto& [id, flow] : flows_)
      for (const Use& use : flow.uses) used[use.link] += use.share * shares_.rate(id);
    for (std::size_t l = 0; l < used.size(); ++l) {
      EXPECT_NEAR(shares_.used(static_cast<Link>(l)), used[l], 1e-9 * capacities_[l]);
      if (sharings_[l] == MaxMin::Sharing::kShared) {
        EXPECT_LE(used[l], capacities_[l] * (1 + 1e-12) + 1e-6);
      }
    }
  }

  [[nodiscard]] std::size_t flows() const { return flows_.size(); }

 private:
  struct Flow {
    double weight, bound;
    std::vector<Use> uses;
  };

  double unit(double low, double high) { return std::uniform_real_distribution{low, high}(draw_); }

  void come() {
    Flow flow;
    flow.weight = equal_ ? 1e-5 : std::pow(10.0, unit(-7, -3));
    flow.bound = draw_() % 3 == 0 ? std::pow(10.0, unit(5, 10)) : kUnbounded;
    for (std::size_t l = 0; l < capacities_.size(); ++l)
      if (draw_() % capacities_.size() < 3) {
        constexpr double kShares[] = {1, 1, 1, 0.05, 1.05, 2};
        flow.uses.push_back({static_cast<Link>(l), kShares[draw_() % 6]});
      }
    if (flow.uses.empty()) flow.uses.push_back({0, 1});
    flows_.emplace(shares_.add(flow.weight, flow.bound, flow.uses), flow);
  }

  void go() {
    const auto which = std::next(flows_.begin(), static_cast<std::ptrdiff_t>(draw_() % flows_.size()));
    shares_.remove(which->first);
    told_.erase(which->first);
    flows_.erase(which);
  }

  /// From nothing, without the class under test.
  [[nodiscard]] std::map<MaxMin::Flow, double> filled() const {
    std::map<MaxMin::Flow, double> rates;
    std::map<MaxMin::Flow, Flow> open = flows_;
    std::vector<double> left = capacities_;
    while (!open.empty()) {
      double level = INFINITY;
      for (const auto& [id, f] : open) level = std::min(level, f.bound * f.weight);
      for (std::size_t l = 0; l < left.size(); ++l) {
        double slopes = 0;
        for (const auto& [id, f] : open)
          for (const Use& u : f.uses) {
            if (u.link != l) continue;
            if (sharings_[l] == MaxMin::Sharing::kFatPipe)
              level = std::min(level, left[l] * f.weight / u.share);
            else
              slopes += u.share / f.weight;
          }
        if (slopes > 0) level = std::min(level, left[l] / slopes);
      }
      constexpr double kReached = 1 + 1e-11;
      std::vector<bool> full(left.size());
      for (std::size_t l = 0; l < left.size(); ++l) {
        double slopes = 0;
        for (const auto& [id, f] : open)
          for (const Use& u : f.uses) {
            if (u.link != l) continue;
            if (sharings_[l] == MaxMin::Sharing::kFatPipe)
              full[l] = full[l] || left[l] * f.weight / u.share <= level * kReached;
            else
              slopes += u.share / f.weight;
          }
        if (slopes > 0 && left[l] / slopes <= level * kReached) full[l] = true;
      }
      std::map<MaxMin::Flow, Flow> still;
      for (const auto& [id, f] : open) {
        const bool stays = f.bound * f.weight <= level * kReached ||
                           std::ranges::any_of(f.uses, [&](const Use& u) { return full[u.link]; });
        if (!stays) {
          still.emplace(id, f);
          continue;
        }
        rates[id] = level / f.weight;
        for (const Use& u : f.uses)
          if (sharings_[u.link] == MaxMin::Sharing::kShared) left[u.link] -= u.share * level / f.weight;
      }
      open = std::move(still);
    }
    return rates;
  }

  std::mt19937 draw_;
  MaxMin shares_;
  bool equal_ = false;
  std::vector<double> capacities_;
  std::vector<MaxMin::Sharing> sharings_;
  std::map<MaxMin::Flow, Flow> flows_;
  std::map<MaxMin::Flow, double> told_;
};

TEST(MaxMin, EqualsFillingFromNothingAfterEachOfManyChanges) {
  std::size_t most = 0;
  for (unsigned seed = 1; seed <= 2000 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world{seed};
    for (int step = 0; step < 40; ++step) {
      world.change();
      world.check();
      most = std::max(most, world.flows());
    }
  }
  EXPECT_GT(most, 30U);
}

}  // namespace
}  // namespace nplus1::netmodel
