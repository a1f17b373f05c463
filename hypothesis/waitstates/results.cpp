#include "hypothesis/waitstates/results.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "support/time_sum.hpp"

namespace nplus1::hypothesis {
namespace {

Duration weight(const Activity& a) {
  return added(a.tally.waiting, a.tally.polling);
}

bool used(const Tally& t) {
  return t.calls > 0 || t.time > Duration::zero() || t.on_critical_path > Duration::zero();
}

}  // namespace

Duration Tally::in_states() const {
  Duration sum{};
  for (const Duration state : states) sum_up(sum, state);
  return sum;
}

void Tally::add(const Tally& other) {
  calls += other.calls;
  sum_up(time, other.time);
  sum_up(computing, other.computing);
  sum_up(waiting, other.waiting);
  sum_up(polling, other.polling);
  for (std::size_t s = 0; s < kWaitStates; ++s) sum_up(states[s], other.states[s]);
  sum_up(wrong_order, other.wrong_order);
  sum_up(on_critical_path, other.on_critical_path);
  delay.add(other.delay);
}

void WaitStateResults::sort() {
  std::vector<std::size_t> order;
  for (std::size_t a = 0; a < activities.size(); ++a)
    if (used(activities[a].tally)) order.push_back(a);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Activity &x = activities[a], &y = activities[b];
    return std::make_tuple(weight(y), y.tally.on_critical_path) <
           std::make_tuple(weight(x), x.tally.on_critical_path);
  });
  std::vector<std::size_t> place(activities.size());
  std::vector<Activity> sorted;
  for (const std::size_t a : order) {
    place[a] = sorted.size();
    sorted.push_back(std::move(activities[a]));
  }
  activities = std::move(sorted);
  for (Cause& cause : causes) cause.activity = place[cause.activity];
  std::sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) {
    return std::make_tuple(-a.delay.total(), a.activity, a.rank) <
           std::make_tuple(-b.delay.total(), b.activity, b.rank);
  });
}

}  // namespace nplus1::hypothesis
