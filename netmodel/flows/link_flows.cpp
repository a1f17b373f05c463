#include "netmodel/flows/link_flows.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace nplus1::netmodel {
namespace {

/// `seconds` after `from`; never where that is later than all times.
Time after(Time from, double seconds) {
  constexpr double kMost = 9e6;  // seconds; the range of Time is 106 days
  return seconds < kMost ? from + from_seconds(seconds) : kNever;
}

}  // namespace

LinkFlows::LinkFlows(std::shared_ptr<const LinkNetwork> network) : network_{std::move(network)} {}

void LinkFlows::start(FlowId id, RankId source, RankId destination, Bytes size, Time at) {
  waiting_.push({std::max(at, now_), order_++, id, source, destination, size});
}

const Route& LinkFlows::route(RankId source, RankId destination) {
  const std::uint64_t key = (static_cast<std::uint64_t>(source.index()) << 32U) | destination.index();
  if (const auto found = routes_.find(key); found != routes_.end()) return found->second;
  const Route& route = routes_.emplace(key, network_->route(source, destination)).first->second;
  for (const MaxMin::Use& use : route.uses)
    while (shares_.links() <= use.link) {
      const SharedLink link = network_->link(static_cast<MaxMin::Link>(shares_.links()));
      shares_.add_link(link.capacity, link.sharing);
    }
  return route;
}

void LinkFlows::begin(const FlowStart& start) {
  if (start.id >= messages_.size()) messages_.resize(start.id + 1);
  Message& message = messages_[start.id];
  message = {};
  message.route = &route(start.source, start.destination);
  message.left = static_cast<double>(count(start.size)) + network_->envelope;
  const Factors factors = network_->factors(message.left);
  message.factor = factors.rate;
  message.order = start.order;
  ++under_way_;
  latencies_.push({after(now_, message.route->latency * factors.latency), start.order, start.id});
}

/// Its latency is over.
void LinkFlows::flow(const Due& due) {
  Message& message = messages_[due.id];
  message.since = now_;
  if (message.route->uses.empty()) {  // nothing holds it up
    done_.push_back(due.id);
    return;
  }
  message.flow = shares_.add(message.route->weight, message.route->bound, message.route->uses);
  if (message.flow >= message_of_.size()) message_of_.resize(message.flow + 1);
  message_of_[message.flow] = due.id;
}

void LinkFlows::change_speeds() {
  changed_.clear();
  shares_.settle(changed_);
  for (const MaxMin::Flow flow : changed_) {
    const FlowId id = message_of_[flow];
    Message& message = messages_[id];
    message.left = std::max(0.0, message.left - message.speed * seconds(now_ - message.since));
    message.since = now_;
    message.speed = shares_.rate(flow) * message.factor;
    const Due due{after(now_, message.left / message.speed), message.order, id};
    if (std::exchange(message.has_end, true))
      ends_.update(message.end, due);
    else
      message.end = ends_.push(due);
  }
}

/// When something happens by itself.
Time LinkFlows::next() const {
  return std::min(latencies_.empty() ? kNever : latencies_.top().at, ends_.empty() ? kNever : ends_.top().at);
}

/// What ends at an instant ends before what starts there: then it makes no difference at which instants the engine
/// stops, as it may only start flows at those where it has.
void LinkFlows::advance(Time until, std::vector<Completion>& completions) {
  done_.clear();
  while (done_.empty() && !idle()) {
    const Time event = next();
    const Time begins = waiting_.empty() ? kNever : waiting_.top().at;
    if (begins < until && begins < event) {
      // Not those of `until` itself: others of that instant may still come, and all start in one order.
      for (now_ = std::max(now_, begins); !waiting_.empty() && waiting_.top().at == begins; waiting_.pop())
        begin(waiting_.top());
      continue;
    }
    if (event > until || event == kNever) {
      now_ = std::max(now_, until == kNever ? now_ : until);
      break;
    }
    now_ = event;
    for (; !ends_.empty() && ends_.top().at == event; ends_.pop()) {
      const FlowId id = ends_.top().id;
      shares_.remove(messages_[id].flow);
      done_.push_back(id);
    }
    for (; !latencies_.empty() && latencies_.top().at == event; latencies_.pop()) flow(latencies_.top());
    change_speeds();
  }
  for (const FlowId id : done_) completions.push_back({id, now_});
  under_way_ -= done_.size();
}

}  // namespace nplus1::netmodel
