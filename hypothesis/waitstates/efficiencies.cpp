#include "hypothesis/waitstates/efficiencies.hpp"

#include <algorithm>
#include <stdexcept>

#include "support/time_sum.hpp"

namespace nplus1::hypothesis {
namespace {

using events::EventKind;

constexpr std::uint64_t kEventsBetweenDecisions = 1024;

double ratio(Duration part, Duration whole) {
  return whole > Duration::zero() ? seconds(part) / seconds(whole) : 1;
}

}  // namespace

Efficiencies efficiencies(const std::vector<Duration>& compute, Duration run_time,
                          std::optional<Duration> ideal_time) {
  Efficiencies e;
  if (compute.empty()) return e;
  const Duration largest = *std::max_element(compute.begin(), compute.end());
  const double mean =
      time_sum(compute.begin(), compute.end()).seconds() / static_cast<double>(compute.size());
  e.parallel = run_time > Duration::zero() ? mean / seconds(run_time) : 1;
  e.load_balance = largest > Duration::zero() ? mean / seconds(largest) : 1;
  e.communication = ratio(largest, run_time);
  e.ideal_time = ideal_time;
  if (!ideal_time) return e;
  e.serialisation = ratio(largest, *ideal_time);
  e.transfer = ratio(*ideal_time, run_time);
  return e;
}

class IdealReplay::Ends : public simnode::engine::Listener {
 public:
  void on_exit(const events::TimedEvent& event) override { end = std::max(end, event.exit); }
  void on_match(RankId /*receiver*/, const events::Answer& /*match*/) override {}
  Time end{};
};

IdealReplay::IdealReplay(std::size_t ranks, const netmodel::StorageModel& storage)
    : network_{std::move(netmodel::parse("loggops:L=0,o=0,g=0,G=0,O=0").value())},
      ends_{std::make_unique<Ends>()} {
  simnode::engine::Options options;
  options.trust_entry = false;
  options.storage = storage;
  options.poll_cost = {Duration::zero(), Duration::zero()};
  engine_ = std::make_unique<simnode::engine::Engine>(static_cast<int>(ranks), *network_, *ends_, options);
}

IdealReplay::~IdealReplay() = default;

template <class Step>
void IdealReplay::in_engine(const Step& step) {
  try {
    step();
  } catch (const std::invalid_argument&) {  // replay() says which; here the rest of the analysis goes on
    unfinished_ = true;
  }
}

void IdealReplay::on_communicator(const events::Communicator& communicator) {
  if (communicator.id.value == 0) return;
  if (communicator.id.index() >= defined_.size()) defined_.resize(communicator.id.index() + 1);
  if (defined_[communicator.id.index()]) return;  // told again
  defined_[communicator.id.index()] = true;
  const auto& members = communicator.members;
  const auto split = members.begin() + static_cast<std::ptrdiff_t>(communicator.first_group);
  in_engine([&] {
    if (communicator.first_group == 0)
      engine_->define_communicator(communicator.id, members);
    else
      engine_->define_communicator(communicator.id, {members.begin(), split}, {split, members.end()});
  });
}

void IdealReplay::on_event(const events::TimedEvent& timed) {
  if (timed.exit == events::kUnfinished) unfinished_ = true;
  if (unfinished_) return;
  events::Event event = timed.event;
  event.flags = static_cast<std::uint8_t>(event.flags & ~(events::kNeedsAnswer | events::kHasDetail));
  events::Extension extension = timed.extension;
  std::vector<std::uint32_t> completed;
  if (event.kind == EventKind::kTest) {
    const bool nothing = timed.answer.flag == 0 || event.has(events::kKeepsRequests);
    event.kind = nothing ? EventKind::kLocal : EventKind::kWait;
    if (event.completion_mode() != events::CompletionMode::kAll) {
      for (const std::uint32_t position : timed.completed)
        if (position < extension.words.size()) completed.push_back(extension.words[position]);
      extension.words = completed;
      event.operation = static_cast<std::uint8_t>(events::CompletionMode::kAll);
    }
    if (nothing) extension = {};
    event.aux = extension.words.size();
  }
  if (event.kind == EventKind::kIprobe) event.kind = EventKind::kLocal;
  in_engine([&] {
    engine_->push(timed.rank, event, extension);
    if (++pushed_ % kEventsBetweenDecisions == 0) engine_->decide();
  });
}

std::optional<Duration> IdealReplay::time() {
  if (unfinished_) return std::nullopt;
  in_engine([&] {
    do engine_->decide();
    while (engine_->release_rendezvous());
  });
  if (unfinished_ || engine_->state() != simnode::engine::State::kFinished) return std::nullopt;
  return ends_->end.time_since_epoch();
}

}  // namespace nplus1::hypothesis
