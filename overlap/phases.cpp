#include "overlap/phases.hpp"

#include <algorithm>
#include <string_view>

#include "events/limits.hpp"
#include "overlap/normal_form.hpp"

namespace nplus1::overlap {
namespace {

using events::Event;
using events::EventKind;
using hypothesis::transform::Call;

/// Return addresses that tell places apart, as in the paper's contexts.
constexpr std::size_t kPhaseFrames = 4;

std::uint64_t joined(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6U) + (hash >> 2U);
  return hash * 0xff51afd7ed558ccdU;
}

std::uint64_t of_path(const Survey& survey, std::uint32_t site) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const events::CallPath* path = survey.names().call_path(CallSiteId{site});
  if (path == nullptr) return hash;
  for (std::size_t i = 0; i < std::min(kPhaseFrames, path->frames.size()); ++i) {
    const events::Frame& f = path->frames[i];
    for (const char c :
         f.module.empty() ? f.file + ':' + f.function : f.module)  // the latter: of an interpreter's
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    hash = joined(hash, f.module.empty() ? f.line : f.offset);
  }
  return hash;
}

/// Which loop touches a buffer first depends on the size, so an access belongs to the call whose buffer it is.
std::uint64_t place_of_event(const Survey& survey, RankId rank, const Event& e) {
  std::uint64_t hash = joined(static_cast<std::uint64_t>(e.kind), e.operation);
  std::uint32_t site = e.site.value;
  if (events::is_access(e))
    if (const Moment* call = survey.ranks()[rank.index()].moment(e.aux); call != nullptr) {
      site = call->site;
      hash = joined(hash, call->call);
    }
  return joined(joined(hash, e.call), of_path(survey, site));
}

/// `size` of these counts bytes of a message or of a collective operation's share.
bool moves_bytes(const Event& e) {
  return e.kind == EventKind::kSend || e.kind == EventKind::kIsend || e.kind == EventKind::kRecv ||
         e.kind == EventKind::kIrecv || e.kind == EventKind::kCollective;
}

double value_at(const std::vector<Point>& points, double n, Estimate estimate) {
  const Fit f = fit(points);
  if (estimate == Estimate::kBest) return f.best.at(n, points.front().p);
  const Fit::Spread s = f.spread(n, points.front().p);
  return estimate == Estimate::kLeast ? s.least : s.most;
}

class Scaled final : public hypothesis::transform::Transform {
 public:
  Scaled(std::shared_ptr<const Survey> survey, std::shared_ptr<const Scales> scales)
      : survey_{std::move(survey)}, scales_{std::move(scales)} {}

 private:
  void change(RankId rank, std::uint64_t, Call& call) override {
    const auto known = scales_->find(place_of_event(*survey_, rank, call.event));
    if (known == scales_->end()) return;
    const auto times = [](std::int64_t value, double factor) { return static_cast<double>(value) * factor; };
    call.event.compute_ps =
        events::rounded_within(times(call.event.compute_ps, known->second.computing)).count();
    if (!moves_bytes(call.event)) return;
    const auto sized = [&](std::int64_t size) {
      return events::rounded_size(times(size, known->second.bytes));
    };
    call.event.size = sized(call.event.size);
    if (call.lists.sizes.empty()) return;
    sizes_.assign(call.lists.sizes.begin(), call.lists.sizes.end());
    for (std::int64_t& size : sizes_) size = sized(size);
    call.lists.sizes = sizes_;
  }

  std::shared_ptr<const Survey> survey_;
  std::shared_ptr<const Scales> scales_;
  std::vector<std::int64_t> sizes_;
};

}  // namespace

void PhaseSums::on_event(const events::TimedEvent& timed) {
  const Event& e = timed.event;
  Phase& phase = phases_[place_of_event(survey_, timed.rank, e)];
  phase.computing_ps += static_cast<double>(e.compute_ps);
  if (moves_bytes(e)) phase.bytes += static_cast<double>(e.size);
  phase.access = events::is_access(e);
  ++phase.count;
}

std::string differ(const std::vector<SizedPhases>& runs) {
  const Phases& first = *runs.front().phases;
  for (const SizedPhases& run : runs) {
    for (const auto& [place, phase] : *run.phases)
      if (!phase.access && !first.contains(place)) return "the runs make calls in different places";
    for (const auto& [place, phase] : first) {
      if (phase.access) continue;
      const auto known = run.phases->find(place);
      if (known == run.phases->end()) return "the runs make calls in different places";
      if (known->second.count != phase.count) return "the runs make different numbers of calls";
    }
  }
  return "";
}

Scales scales_at(const std::vector<SizedPhases>& runs, const Phases& base, double n, Estimate estimate) {
  Scales scales;
  for (const auto& [place, own] : base) {
    std::vector<Point> computing, bytes;
    for (const SizedPhases& run : runs) {
      const auto known = run.phases->find(place);
      if (known == run.phases->end()) continue;
      const auto count = static_cast<double>(known->second.count);
      computing.push_back({run.n, 1, known->second.computing_ps / count});
      bytes.push_back({run.n, 1, known->second.bytes / count});
    }
    if (computing.size() < 2) continue;
    const auto count = static_cast<double>(own.count);
    Scale& scale = scales[place];
    if (own.computing_ps > 0) scale.computing = value_at(computing, n, estimate) * count / own.computing_ps;
    if (own.bytes > 0) scale.bytes = value_at(bytes, n, estimate) * count / own.bytes;
  }
  return scales;
}

std::unique_ptr<hypothesis::transform::Transform> scaled(std::shared_ptr<const Survey> survey,
                                                         std::shared_ptr<const Scales> scales) {
  return std::make_unique<Scaled>(std::move(survey), std::move(scales));
}

}  // namespace nplus1::overlap
