#include "netmodel/simgrid/simgrid_flows.hpp"

#include <simgrid/kernel/resource/Model.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace nplus1::netmodel {
namespace {

namespace sg = simgrid::s4u;

/// SMPI's: tag, communicator, source.
constexpr std::uint64_t kEnvelope = 16;

}  // namespace

SimgridFlows* SimgridFlows::current_ = nullptr;

SimgridFlows::SimgridFlows(sg::Engine& engine, const std::vector<sg::Host*>& hosts)
    : engine_{engine}, hosts_{hosts}, origin_{sg::Engine::get_clock()} {
  if (current_ != nullptr) throw std::logic_error("SimGrid simulates one network at a time");
  static const bool connected = [] {
    sg::Activity::on_completion_cb([](const sg::Activity& activity) {
      if (current_ != nullptr) current_->ended(activity);
    });
    return true;
  }();
  static_cast<void>(connected);
  current_ = this;
}

/// Flows under way are called off. Their objects stay, as SimGrid still refers to them.
SimgridFlows::~SimgridFlows() {
  current_ = nullptr;
  for (sg::CommPtr& comm : comms_) {
    if (comm == nullptr) continue;
    comm->cancel();
    comm.detach();
  }
}

void SimgridFlows::start(FlowId id, RankId source, RankId destination, Bytes size, Time at) {
  waiting_.push({std::max(at, now_), order_++, id, source, destination, size});
}

void SimgridFlows::begin(const Start& start) {
  if (start.id >= comms_.size()) comms_.resize(start.id + 1);
  const sg::CommPtr comm =
      sg::Comm::sendto_init(hosts_[start.source.index()], hosts_[start.destination.index()]);
  comm->set_payload_size(static_cast<std::uint64_t>(count(start.size)) + kEnvelope);
  comm->set_data(reinterpret_cast<void*>(std::uintptr_t{start.id}));
  comms_[start.id] = comm;
  ++under_way_;
  comm->start();
}

void SimgridFlows::ended(const sg::Activity& activity) {
  const auto* comm = dynamic_cast<const sg::Comm*>(&activity);
  if (comm == nullptr) return;
  const auto id = static_cast<FlowId>(reinterpret_cast<std::uintptr_t>(comm->get_data<void>()));
  const bool ours = id < comms_.size() && comms_[id].get() == comm;
  if (ours) ended_.push_back(id);
}

/// Seconds from `now` to SimGrid's next event; negative if there is none. As EngineImpl::solve() does it.
double SimgridFlows::next_event(double now) const {
  double next = -1;
  for (auto* model : engine_.get_all_models()) {
    const double of_model = model->next_occurring_event(now);
    if (of_model >= 0 && (next < 0 || of_model < next)) next = of_model;
  }
  return next;
}

/// Moves SimGrid's clock to its next event, or to `until` if that comes first.
void SimgridFlows::step(Time until) {
  const double now = sg::Engine::get_clock();
  const double delta = under_way_ == 0 ? -1 : next_event(now);
  const double limit = until == kNever ? std::numeric_limits<double>::infinity() : origin_ + seconds(until);
  const double target = delta < 0 ? limit : std::min(limit, now + delta);
  if (std::isinf(target)) throw std::logic_error("SimGrid has flows that never end");
  if (target >= now) engine_.run_until(target);
  now_ = target == limit ? until : std::max(now_, Time{from_seconds(sg::Engine::get_clock() - origin_)});
}

void SimgridFlows::advance(Time until, std::vector<Completion>& completions) {
  while (ended_.empty()) {
    // Not those of `until` itself: others of that instant may still come, and all start in one order.
    for (; !waiting_.empty() && waiting_.top().at <= now_ && waiting_.top().at < until; waiting_.pop())
      begin(waiting_.top());
    if (now_ >= until || idle()) break;
    step(waiting_.empty() ? until : std::min(until, waiting_.top().at));
  }
  for (const FlowId id : ended_) {
    completions.push_back({id, now_});
    comms_[id].reset();
  }
  under_way_ -= ended_.size();
  ended_.clear();
}

}  // namespace nplus1::netmodel
