#include "hypothesis/whatif/fixes.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <tuple>

namespace nplus1::hypothesis {
namespace {

constexpr std::string_view kBalance = "balance";
/// A collective that contents have proved is named before others that save as much.
constexpr std::string_view kProved = "by_hand";
constexpr double kAsMuch = 0.98;
/// And what nothing shows to be right is named behind all else that saves at least this share of what it does.
constexpr double kSomething = 0.05;
/// Where single places of computing save nearly what all computing does, they are what to look at.
constexpr double kNearlyAll = 0.9;

bool is_advice(const Fix& f) {
  return !f.bound && f.finished;
}

bool share_a_site(const Fix& a, const Fix& b) {
  return std::any_of(a.sites.begin(), a.sites.end(), [&](std::uint32_t site) {
    return std::find(b.sites.begin(), b.sites.end(), site) != b.sites.end();
  });
}

bool same_problem(const Fix& a, const Fix& b) {
  if (a.kind == kBalance || b.kind == kBalance)
    return a.kind == b.kind && (a.subject == b.subject || a.subject.empty() || b.subject.empty());
  if (a.sites.empty() && b.sites.empty())  // algorithms of one operation are one problem
    return a.kind == b.kind && (a.subject.empty() ? a.trial == b.trial : a.subject == b.subject);
  return share_a_site(a, b);
}

/// Whether single places are worth naming instead of all computing.
bool places_say_it(const std::vector<Fix>& fixes) {
  double all = 0;
  std::vector<std::pair<std::string_view, double>> places;
  for (const Fix& f : fixes) {
    if (f.kind != kBalance || !is_advice(f)) continue;
    if (f.subject.empty()) {
      all = std::max(all, f.worth_s());
      continue;
    }
    const auto known =
        std::find_if(places.begin(), places.end(), [&](const auto& p) { return p.first == f.subject; });
    if (known == places.end())
      places.emplace_back(f.subject, std::max(0.0, f.worth_s()));
    else
      known->second = std::max(known->second, f.worth_s());
  }
  double sum = 0;
  for (const auto& [subject, saved] : places) sum += saved;
  return sum > 0 && sum >= kNearlyAll * all;
}

/// Whether `f`, which saves no more, is the one to name.
bool goes_before(const Fix& f, const Fix& leader) {
  if (leader.assumes && !f.assumes) return f.worth_s() > 0 && f.worth_s() >= kSomething * leader.worth_s();
  return f.kind == kProved && leader.kind != kProved && f.worth_s() >= kAsMuch * leader.worth_s();
}

}  // namespace

bool comes_as_far(Reached changed, Reached run, bool part) {
  constexpr double kEnough = 0.999;
  if (part) return static_cast<double>(changed.calls_ended) >= kEnough * static_cast<double>(run.calls_ended);
  return changed.finished || !run.finished;
}

double systematic_part(double saved_s, Duration steady, Duration steady_balanced) {
  return std::clamp(seconds(steady - steady_balanced), 0.0, std::max(0.0, saved_s));
}

void sort_by_problem(std::vector<Fix>& fixes) {
  std::stable_sort(fixes.begin(), fixes.end(), [](const Fix& a, const Fix& b) {
    const auto key = [](const Fix& f) { return std::tuple{!is_advice(f), -f.worth_s()}; };
    return key(a) < key(b);
  });
  // Who leads is asked in order of saving, but for computing as a whole where its places say as much.
  std::vector<Fix*> order;
  for (Fix& f : fixes)
    if (is_advice(f)) order.push_back(&f);
  const bool places_first = places_say_it(fixes);
  std::stable_partition(order.begin(), order.end(), [&](const Fix* f) {
    return !places_first || f->kind != kBalance || !f->subject.empty();
  });
  std::vector<Fix*> leaders;
  for (Fix* f : order) {
    const auto leader =
        std::find_if(leaders.begin(), leaders.end(), [&](const Fix* l) { return same_problem(*l, *f); });
    if (leader == leaders.end()) {
      leaders.push_back(f);
    } else if (goes_before(*f, **leader)) {
      *leader = f;
    }
  }
  std::stable_sort(leaders.begin(), leaders.end(),
                   [](const Fix* a, const Fix* b) { return a->worth_s() > b->worth_s(); });
  for (Fix* f : order)
    for (std::size_t p = 0; p < leaders.size() && f->problem == 0; ++p)
      if (leaders[p] == f || same_problem(*leaders[p], *f)) f->problem = p + 1;
  for (std::size_t p = 0; p < leaders.size(); ++p) {
    leaders[p]->leads = true;
    leaders[p]->problem = p + 1;
  }
  std::stable_sort(fixes.begin(), fixes.end(), [](const Fix& a, const Fix& b) {
    const auto key = [](const Fix& f) {
      return std::tuple{!is_advice(f), f.problem, !f.leads, -f.worth_s()};
    };
    return key(a) < key(b);
  });
}

}  // namespace nplus1::hypothesis
