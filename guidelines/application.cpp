#include "guidelines/application.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace nplus1::guidelines {
namespace {

/// The catalogue's name of a collective; empty for those that it does not measure.
const char* name_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kBcast:
      return "Bcast";
    case CollectiveKind::kGather:
      return "Gather";
    case CollectiveKind::kScatter:
      return "Scatter";
    case CollectiveKind::kAllgather:
      return "Allgather";
    case CollectiveKind::kAlltoall:
      return "Alltoall";
    case CollectiveKind::kReduce:
      return "Reduce";
    case CollectiveKind::kAllreduce:
      return "Allreduce";
    case CollectiveKind::kReduceScatterBlock:
      return "Reduce_scatter_block";
    case CollectiveKind::kReduceScatter:
      return "Reduce_scatter";
    case CollectiveKind::kScan:
      return "Scan";
    default:
      return "";
  }
}

/// The measured sizes of each function on so many processes, with the time of one call.
using Measured = std::map<std::pair<int, std::string>, std::map<std::uint64_t, double>>;

Measured measured(const Analysis& analysis) {
  Measured times;
  for (const Comparison& c : analysis.comparisons) {
    times[{c.processes, c.original}][c.left.size] = c.left.seconds;
    if (c.rule == Rule::kMonotony) times[{c.processes, c.original}][c.right.size] = c.right.seconds;
  }
  return times;
}

double distance(std::uint64_t a, std::uint64_t b) {
  return std::abs(std::log2(static_cast<double>(a)) - std::log2(static_cast<double>(b)));
}

std::optional<std::uint64_t> nearest(const std::map<std::uint64_t, double>& sizes, std::uint64_t size) {
  if (sizes.count(size) != 0) return size;
  std::optional<std::uint64_t> best;
  for (const auto& [other, seconds] : sizes)
    if (other > 0 && size > 0 && distance(other, size) <= 1 &&
        (!best || distance(other, size) < distance(*best, size)))
      best = other;
  return best;
}

}  // namespace

void CallCounter::on_communicator(const events::Communicator& communicator) {
  if (communicator.first_group == 0 && !communicator.members.empty())
    members_[communicator.id] = static_cast<int>(communicator.members.size());
}

void CallCounter::on_event(const events::TimedEvent& timed) {
  const events::Event& event = timed.event;
  if (event.kind != events::EventKind::kCollective) return;
  const auto kind = static_cast<CollectiveKind>(event.operation);
  const std::string name = name_of(kind);
  const auto comm = members_.find(event.comm);
  if (name.empty() || comm == members_.end()) return;
  auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(event.size, 0));
  if (kind == CollectiveKind::kReduceScatter) size /= static_cast<std::uint64_t>(comm->second);
  ++parts_[{comm->second, name, size}];
}

std::map<Place, double> CallCounter::calls() const {
  std::map<Place, double> calls;
  for (const auto& [place, parts] : parts_) calls[place] = static_cast<double>(parts) / place.processes;
  return calls;
}

ApplicationGains gains_of(const Analysis& analysis, const std::map<Place, double>& calls) {
  const Measured times = measured(analysis);
  std::map<Place, double> at_measured;
  ApplicationGains result;
  for (const auto& [place, count] : calls) {
    result.calls += count;
    const auto sizes = times.find({place.processes, place.test});
    const auto size = sizes == times.end() ? std::nullopt : nearest(sizes->second, place.size);
    if (size) {
      at_measured[{place.processes, place.test, *size}] += count;
      result.measured_seconds += count * sizes->second.at(*size);
    } else {
      result.uncovered += count;
    }
  }
  std::map<Place, double> best;
  for (const Comparison& c : analysis.comparisons) {
    const Place place{c.processes, c.original, c.left.size};
    const auto at = at_measured.find(place);
    if (c.verdict != Verdict::kViolated || c.confirmed == false || at == at_measured.end()) continue;
    const double seconds = at->second * (c.left.seconds - c.right.seconds);
    result.gains.push_back({&c, at->second, seconds});
    best[place] = std::max(best[place], seconds);
  }
  for (const auto& [place, seconds] : best) result.seconds += seconds;
  std::stable_sort(result.gains.begin(), result.gains.end(),
                   [](const Gain& a, const Gain& b) { return a.seconds > b.seconds; });
  return result;
}

}  // namespace nplus1::guidelines
