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

constexpr Flows::FlowId kNobody = std::numeric_limits<Flows::FlowId>::max();

}  // namespace

LinkFlows::LinkFlows(std::shared_ptr<const LinkNetwork> network) : network_{std::move(network)} {}

void LinkFlows::start(FlowId id, RankId source, RankId destination, Bytes size, Time at,
                      std::uint32_t cause) {
  waiting_.push({std::max(at, now_), order_++, id, source, destination, size, cause});
}

LinkFlows::Known& LinkFlows::known(RankId source, RankId destination) {
  const std::uint64_t key = (static_cast<std::uint64_t>(source.index()) << 32U) | destination.index();
  if (const auto found = routes_.find(key); found != routes_.end()) return found->second;
  Known& known = routes_.emplace(key, Known{network_->route(source, destination), source, destination, 0, {}})
                     .first->second;
  for (const MaxMin::Use& use : known.route.uses)
    while (shares_.links() <= use.link) add_link(network_->link(static_cast<MaxMin::Link>(shares_.links())));
  return known;
}

/// Its phases are counted from time zero on, whenever the first message comes by.
void LinkFlows::add_link(const SharedLink& link) {
  const MaxMin::Link number = shares_.add_link(link.capacity, link.sharing);
  if (!link.phases) return;
  backgrounds_.push_back({number, link.background, link.phases});
  turns_.push({after(kTimeZero, link.phases(0)), backgrounds_.size() - 1});
}

/// Begins and ends the bursts that are due. Whether there were any: then speeds have to be found anew.
bool LinkFlows::turn_backgrounds() {
  bool any = false;
  while (!turns_.empty() && turns_.top().at <= now_) {
    const Turn due = turns_.top();
    turns_.pop();
    Background& background = backgrounds_[due.background];
    turn(background);
    turns_.push({after(due.at, background.phases(++background.phase)), due.background});
    any = true;
  }
  return any;
}

/// A flow that asks for so little per weight that it always gets its rate.
void LinkFlows::turn(Background& background) {
  constexpr double kWeight = 1e-12;
  background.bursts = !background.bursts;
  if (!background.bursts) return shares_.remove(background.flow);
  const MaxMin::Use use{background.link, 1};
  background.flow = shares_.add(kWeight, background.rate, {&use, 1});
  if (background.flow >= message_of_.size()) message_of_.resize(background.flow + 1);
  message_of_[background.flow] = kNobody;
}

void LinkFlows::begin(const FlowStart& start) {
  if (start.id >= messages_.size()) messages_.resize(start.id + 1);
  Message& message = messages_[start.id];
  message = {};
  message.known = &known(start.source, start.destination);
  message.cause = start.cause;
  message.payload = static_cast<std::uint64_t>(count(start.size));
  message.left = static_cast<double>(count(start.size)) + network_->envelope;
  const Factors factors = network_->factors(message.left);
  message.factor = factors.rate;
  message.order = start.order;
  ++under_way_;
  double latency = message.known->route.latency * factors.latency;
  if (network_->jitter) latency += network_->jitter(start.source, start.destination, message.known->begun);
  ++message.known->begun;
  latencies_.push({after(now_, latency), start.order, start.id});
}

/// Its latency is over.
void LinkFlows::flow(const Due& due) {
  Message& message = messages_[due.id];
  const Route& route = message.known->route;
  message.flows_from = message.since = now_;
  if (account_) watch_begin(message);
  if (route.uses.empty()) {  // nothing holds it up
    done_.push_back(due.id);
    return;
  }
  message.flow = shares_.add(route.weight, route.bound, route.uses);
  message.alone = shares_.alone(message.flow) * message.factor;
  message.least = after(kTimeZero, message.left / message.alone) - kTimeZero;
  if (message.flow >= message_of_.size()) message_of_.resize(message.flow + 1);
  message_of_[message.flow] = due.id;
}

void LinkFlows::change_speeds() {
  changed_.clear();
  shares_.settle(changed_);
  for (const MaxMin::Flow flow : changed_) {
    const FlowId id = message_of_[flow];
    if (id == kNobody) continue;
    Message& message = messages_[id];
    const double passed = seconds(now_ - message.since);
    if (account_) watch_change(message, passed);
    message.left = std::max(0.0, message.left - message.speed * passed);
    message.since = now_;
    message.speed = shares_.rate(flow) * message.factor;
    const Due due{after(now_, message.left / message.speed), message.order, id};
    if (std::exchange(message.has_end, true))
      ends_.update(message.end, due);
    else
      message.end = ends_.push(due);
  }
  if (!account_) return;
  for (const MaxMin::Flow flow : changed_)
    if (message_of_[flow] != kNobody) watch_links_of(messages_[message_of_[flow]]);
  for (const FlowId id : done_) watch_links_of(messages_[id]);
}

void LinkFlows::watch_begin(Message& message) {
  std::vector<std::pair<std::uint32_t, LinkAccount::Stream>>& streams = message.known->streams;
  auto stream =
      std::ranges::find(streams, message.cause, &std::pair<std::uint32_t, LinkAccount::Stream>::first);
  if (stream == streams.end())
    stream = streams.insert(
        stream, {message.cause, account_->new_stream(message.known->source, message.known->destination,
                                                     message.cause, message.known->route)});
  message.passage = account_->begin(stream->second, message.payload, now_);
}

/// Its speed has been what it was for `passed` seconds, and is another now.
void LinkFlows::watch_change(Message& message, double passed) {
  if (message.has_end) account_->charge(message.passage, passed, message.speed, message.alone);
  message.passage.limited_by = shares_.limited_by(message.flow).value_or(LinkAccount::kByNothing);
}

void LinkFlows::watch_links_of(const Message& message) {
  for (const MaxMin::Use& use : message.known->route.uses)
    account_->set(use.link, shares_.used(use.link), shares_.full(use.link), now_);
}

/// Picoseconds are what rounding rates leaves over.
Duration LinkFlows::held_up(const Message& message, Time at) {
  constexpr Duration kRounding{4};
  const Duration more = at - message.flows_from - message.least;
  return more > kRounding ? more : Duration::zero();
}

std::optional<LinkUsage> LinkFlows::link_usage() const {
  if (!account_) return std::nullopt;
  return account_->usage(*network_, now_);
}

/// When something happens by itself. Bursts that nobody meets are made up for when somebody comes.
Time LinkFlows::next() const {
  const Time turn = under_way_ == 0 || turns_.empty() ? kNever : turns_.top().at;
  return std::min(
      {turn, latencies_.empty() ? kNever : latencies_.top().at, ends_.empty() ? kNever : ends_.top().at});
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
      if (turn_backgrounds()) change_speeds();
      continue;
    }
    if (event > until || event == kNever) {
      now_ = std::max(now_, until == kNever ? now_ : until);
      break;
    }
    now_ = event;
    for (; !ends_.empty() && ends_.top().at == event; ends_.pop()) {
      const FlowId id = ends_.top().id;
      Message& message = messages_[id];
      if (account_)
        account_->charge(message.passage, seconds(now_ - message.since), message.speed, message.alone);
      shares_.remove(message.flow);
      done_.push_back(id);
    }
    for (; !latencies_.empty() && latencies_.top().at == event; latencies_.pop()) flow(latencies_.top());
    turn_backgrounds();
    change_speeds();
  }
  for (const FlowId id : done_) {
    Message& message = messages_[id];
    const Duration late = held_up(message, now_);
    if (account_) account_->end(message.passage, late, now_);
    completions.push_back({id, now_, late});
  }
  under_way_ -= done_.size();
}

}  // namespace nplus1::netmodel
