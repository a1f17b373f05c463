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
  waiting_.push({std::max(at, open_from_), started_++, id, source, destination, size, cause});
}

void LinkFlows::look_ahead() {
  if (!network_->lookahead) return;
  // Rounded down: a latency is rounded to the nearest picosecond.
  const Duration least = from_seconds(network_->lookahead()) - Duration{1};
  lookahead_ = std::max(Duration::zero(), least);
}

bool LinkFlows::within_host(RankId source, RankId destination) const {
  const std::vector<std::string>& hosts = network_->hosts;
  return source == destination || (!hosts.empty() && hosts[source.index()] == hosts[destination.index()]);
}

LinkFlows::Known& LinkFlows::known(RankId source, RankId destination) {
  const std::uint64_t key = (static_cast<std::uint64_t>(source.index()) << 32U) | destination.index();
  if (const auto found = routes_.find(key); found != routes_.end()) return found->second;
  Realm* const realm =
      lookahead_ > Duration::zero() && within_host(source, destination) ? &within_ : &between_;
  Known& known =
      routes_.emplace(key, Known{network_->route(source, destination), source, destination, realm, 0, {}})
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
  while (!turns_.empty() && turns_.top().at <= between_.now) {
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
  message.order = begun_++;
  ++under_way_;
  double latency = message.known->route.latency * factors.latency;
  if (network_->jitter) latency += network_->jitter(start.source, start.destination, message.known->begun);
  ++message.known->begun;
  message.known->realm->latencies.push({after(start.at, latency), message.order, start.id});
}

/// Its latency is over.
void LinkFlows::flow(const Due& due, Realm& realm) {
  Message& message = messages_[due.id];
  const Route& route = message.known->route;
  message.flows_from = message.since = realm.now;
  if (account_) watch_begin(due.id);
  if (route.uses.empty()) {  // nothing holds it up
    done_.push_back(due.id);
    return;
  }
  message.flow = shares_.add(route.weight, route.bound, {route.uses.data(), route.uses.size()});
  message.alone = shares_.alone(message.flow) * message.factor;
  message.least = after(kTimeZero, message.left / message.alone) - kTimeZero;
  if (message.flow >= message_of_.size()) message_of_.resize(message.flow + 1);
  message_of_[message.flow] = due.id;
}

void LinkFlows::change_speeds(Realm& realm) {
  changed_.clear();
  shares_.settle(changed_);
  for (const MaxMin::Flow flow : changed_) {
    const FlowId id = message_of_[flow];
    if (id == kNobody) continue;
    Message& message = messages_[id];
    const double passed = seconds(realm.now - message.since);
    if (account_) watch_change(id, passed);
    message.left = std::max(0.0, message.left - message.speed * passed);
    message.since = realm.now;
    message.speed = shares_.rate(flow) * message.factor;
    realm.ends.set(id, after(realm.now, message.left / message.speed), message.order);
  }
  if (!account_) return;
  for (const MaxMin::Flow flow : changed_)
    if (message_of_[flow] != kNobody) watch_links_of(messages_[message_of_[flow]]);
  for (const FlowId id : done_) watch_links_of(messages_[id]);
}

void LinkFlows::watch_begin(FlowId id) {
  Message& message = messages_[id];
  std::vector<std::pair<std::uint32_t, LinkAccount::Stream>>& streams = message.known->streams;
  auto stream =
      std::ranges::find(streams, message.cause, &std::pair<std::uint32_t, LinkAccount::Stream>::first);
  if (stream == streams.end())
    stream = streams.insert(
        stream, {message.cause, account_->new_stream(message.known->source, message.known->destination,
                                                     message.cause, message.known->route)});
  if (id >= passages_.size()) passages_.resize(messages_.size());
  passages_[id] = account_->begin(stream->second, message.payload, message.since);
}

/// Its speed has been what it was for `passed` seconds, and is another now.
void LinkFlows::watch_change(FlowId id, double passed) {
  const Message& message = messages_[id];
  if (message.known->realm->ends.contains(id))
    account_->charge(passages_[id], passed, message.speed, message.alone);
  passages_[id].limited_by = shares_.limited_by(message.flow).value_or(LinkAccount::kByNothing);
}

void LinkFlows::watch_links_of(const Message& message) {
  for (const MaxMin::Use& use : message.known->route.uses)
    account_->set(use.link, shares_.used(use.link), shares_.full(use.link), message.known->realm->now);
}

/// Picoseconds are what rounding rates leaves over.
Duration LinkFlows::held_up(const Message& message, Time at) {
  constexpr Duration kRounding{4};
  const Duration more = at - message.flows_from - message.least;
  return more > kRounding ? more : Duration::zero();
}

std::optional<LinkUsage> LinkFlows::link_usage() const {
  if (!account_) return std::nullopt;
  return account_->usage(*network_, std::max({between_.now, within_.now, open_from_}));
}

/// When something happens by itself.
Time LinkFlows::next(const Realm& realm) {
  return std::min(realm.latencies.empty() ? kNever : realm.latencies.top().at,
                  realm.ends.empty() ? kNever : realm.ends.top().time);
}

/// Bursts that nobody meets are made up for when somebody comes.
Time LinkFlows::next_between() const {
  const Time turn = under_way_ == 0 || turns_.empty() ? kNever : turns_.top().at;
  return std::min(turn, next(between_));
}

/// Where something happens next, if that is certain: what starts at `until` between hosts shares nothing before
/// lookahead_ has passed.
LinkFlows::Realm* LinkFlows::next_realm(Time until) {
  const Time within = next(within_);
  const Time between = next_between();
  if (within <= until && within <= between && within != kNever) return &within_;
  if (between == kNever) return nullptr;
  return between <= until || between - lookahead_ < until ? &between_ : nullptr;
}

/// Those that are the first to start. Not those of the instant up to which all are known: others of it may still come, and
/// all start in one order.
void LinkFlows::begin_next() {
  const Time begins = waiting_.top().at;
  for (open_from_ = std::max(open_from_, begins); !waiting_.empty() && waiting_.top().at == begins;
       waiting_.pop())
    begin(waiting_.top());
  if (turns_.empty()) return;
  between_.now = std::max(between_.now, begins);
  if (turn_backgrounds()) change_speeds(between_);
}

/// What ends at an instant ends before what starts there: then it makes no difference at which instants the engine
/// stops, as it may only start flows at those where it has.
void LinkFlows::happen(Realm& realm) {
  realm.now = &realm == &within_ ? next(realm) : next_between();
  while (!realm.ends.empty() && realm.ends.top().time == realm.now) {
    const FlowId id = realm.ends.top().item;
    realm.ends.erase(id);
    const Message& message = messages_[id];
    if (account_)
      account_->charge(passages_[id], seconds(realm.now - message.since), message.speed, message.alone);
    shares_.remove(message.flow);
    done_.push_back(id);
  }
  for (; !realm.latencies.empty() && realm.latencies.top().at == realm.now; realm.latencies.pop())
    flow(realm.latencies.top(), realm);
  if (&realm == &between_) turn_backgrounds();
  change_speeds(realm);
  approach_next(realm);
}

/// The engine looks at what has ended meanwhile.
void LinkFlows::approach_next(const Realm& realm) const {
  if (!realm.ends.empty()) {
    const Message& next = messages_[realm.ends.top().item];
    prefetch_lines<2>(&next);
  }
  if (!realm.latencies.empty()) prefetch_lines<2>(&messages_[realm.latencies.top().id]);
}

void LinkFlows::advance(Time until, std::vector<Completion>& completions) {
  done_.clear();
  while (done_.empty() && !idle()) {
    const Time begins = waiting_.empty() ? kNever : waiting_.top().at;
    if (begins < until && begins < std::min(next(within_), next_between())) {
      begin_next();
      continue;
    }
    Realm* const realm = next_realm(until);
    if (realm == nullptr) {
      if (until != kNever) open_from_ = std::max(open_from_, until);
      return;
    }
    happen(*realm);
    open_from_ = std::max(open_from_, std::min(until, realm->now));
  }
  for (const FlowId id : done_) {
    Message& message = messages_[id];
    const Time now = message.known->realm->now;
    const Duration late = held_up(message, now);
    if (account_) account_->end(passages_[id], late, now);
    completions.push_back({id, now, late});
  }
  under_way_ -= done_.size();
  // What was looked ahead at is the past, too, once nobody can start anything by himself, nor goes on with what has come.
  if (until == kNever && done_.empty()) open_from_ = std::max({open_from_, between_.now, within_.now});
}

}  // namespace nplus1::netmodel
