#include "netmodel/simgrid/simgrid_flows.hpp"

#include <unistd.h>
#include <simgrid/kernel/resource/Model.hpp>
#include <xbt/config.hpp>

#include <algorithm>
#include <csignal>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "netmodel/simgrid/platform_links.hpp"

namespace nplus1::netmodel {
namespace {

namespace sg = simgrid::s4u;

/// SimGrid 3.32 loses what does not fit into ns-3's send buffer, and aborts.
constexpr std::uint64_t kLargestOfNs3 = 131'072;

/// SimGrid aborts, or follows a null pointer, where a message meets something in the platform that it cannot do; it has
/// said what by then. Whoever simulates must not end by a signal for it.
volatile std::sig_atomic_t inside_simgrid = 0;

void say_and_leave(int signal) {
  if (inside_simgrid == 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  constexpr std::string_view kWords =
      "nplus1: SimGrid gives up while it simulates a message\n"
      "  so:   the simulation ends here, without a result\n"
      "  next: nplus1 doctor --platform FILE, or another --model\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kWords.data(), kWords.size());
  constexpr int kSoftware = 70;
  _exit(kSoftware);
}

void leave_when_simgrid_gives_up() {
  for (const int signal : {SIGABRT, SIGFPE, SIGSEGV}) {
    struct sigaction before {};
    // Who has set a handler of his own, as the check of platforms does, knows more.
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
      std::signal(signal, say_and_leave);
  }
}

class InsideSimgrid {
 public:
  InsideSimgrid() { inside_simgrid = 1; }
  ~InsideSimgrid() { inside_simgrid = 0; }
  InsideSimgrid(const InsideSimgrid&) = delete;
  InsideSimgrid& operator=(const InsideSimgrid&) = delete;
};

}  // namespace

SimgridFlows* SimgridFlows::current_ = nullptr;

SimgridFlows::SimgridFlows(sg::Engine& engine, const std::vector<sg::Host*>& hosts, bool ns3)
    : engine_{engine},
      hosts_{hosts},
      ns3_{ns3},
      full_{simgrid::config::get_value<std::string>("network/optim") == "Full"},
      precision_{simgrid::config::get_value<double>("surf/precision")},
      origin_{sg::Engine::get_clock()} {
  if (current_ != nullptr) throw std::logic_error("SimGrid simulates one network at a time");
  static const bool connected = [] {
    sg::Activity::on_completion_cb([](const sg::Activity& activity) {
      if (current_ != nullptr) current_->ended(activity);
    });
    return true;
  }();
  static_cast<void>(connected);
  engine_.track_vetoed_activities(&stop_);
  leave_when_simgrid_gives_up();
  current_ = this;
}

/// Flows under way are called off. Their objects stay, as SimGrid still refers to them.
SimgridFlows::~SimgridFlows() {
  current_ = nullptr;
  engine_.track_vetoed_activities(nullptr);
  for (sg::CommPtr& comm : comms_) {
    if (comm == nullptr) continue;
    comm->cancel();
    comm.detach();
  }
}

void SimgridFlows::start(FlowId id, RankId source, RankId destination, Bytes size, Time at,
                         std::uint32_t cause) {
  waiting_.push({std::max(at, now_), order_++, id, source, destination, size, cause});
}

/// Only within a host: between hosts the check of the platform has looked, and a look-up for each message is dear.
bool SimgridFlows::has_route(const FlowStart& start) const {
  const sg::Host* const host = hosts_[start.source.index()];
  if (ns3_ || host != hosts_[start.destination.index()]) return true;
  std::vector<sg::Link*> links;
  double latency = 0;
  host->route_to(host, links, &latency);
  return !links.empty() || latency > 0;
}

void SimgridFlows::begin(const FlowStart& start) {
  const InsideSimgrid inside;
  if (!has_route(start)) {  // SimGrid would abort; what stays on a host without loopback costs nothing
    if (start.id >= comms_.size()) comms_.resize(start.id + 1);
    ++under_way_;
    ended_.push_back(start.id);
    return;
  }
  if (start.id >= comms_.size()) comms_.resize(start.id + 1);
  const sg::CommPtr comm =
      sg::Comm::sendto_init(hosts_[start.source.index()], hosts_[start.destination.index()]);
  const std::uint64_t size = static_cast<std::uint64_t>(count(start.size)) + kEnvelopeBytes;
  if (ns3_ && size > kLargestOfNs3)
    throw MessageRefused{"SimGrid's ns-3 carries messages of up to 131056 bytes, and one has " +
                         std::to_string(count(start.size))};
  comm->set_payload_size(size);
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
  if (!ours) return;
  ended_.push_back(id);
  stop_.insert(comms_[id].get());
}

/// On SimGrid's clock; infinite if nothing is under way. Not known for ns-3, which only tells by going there.
double SimgridFlows::next_event() const {
  double next = std::numeric_limits<double>::infinity();
  const double now = sg::Engine::get_clock();
  for (simgrid::kernel::resource::Model* model : engine_.get_all_models()) {
    const double delta = ns3_ ? -1 : model->next_occurring_event(now);
    if (delta >= 0) next = std::min(next, now + delta);
  }
  return next;
}

/// Leads SimGrid's clock towards `until`: to its next event, if that comes first.
void SimgridFlows::step(Time until) {
  const InsideSimgrid inside;
  stop_.clear();  // SimGrid itself puts in what it starts in two steps
  const double limit = until == kNever ? -1 : origin_ + seconds(until);
  if (until == kNever)
    engine_.run();
  else if (limit >= sg::Engine::get_clock())
    engine_.run_until(full_ ? limit : std::min(limit, next_event()));
  if (until == kNever && ended_.empty()) throw std::logic_error("SimGrid has flows that never end");
  const double now = sg::Engine::get_clock();
  const bool arrived = until != kNever && now >= limit;
  clock_ = arrived ? until : std::max(clock_, Time{from_seconds(now - origin_)});
}

/// Whether a stop at `at` would change what comes: SimGrid ends early, by up to its precision, what would end
/// right after a stop. Flows start where the program says; how far the ranks have been heard is the host's
/// accident, and must leave no trace.
bool SimgridFlows::disturbs(Time at) const {
  const double late = at == kNever ? 0 : next_event() - (origin_ + seconds(at));
  return late > 0 && late <= 2 * precision_;
}

void SimgridFlows::advance(Time until, std::vector<Completion>& completions) {
  while (ended_.empty()) {
    // Not those of `until` itself: others of that instant may still come, and all start in one order.
    for (; !waiting_.empty() && waiting_.top().at <= clock_ && waiting_.top().at < until; waiting_.pop())
      begin(waiting_.top());
    if (!ended_.empty() || clock_ >= until || idle()) break;
    const bool starts = !waiting_.empty() && waiting_.top().at < until;
    if (!starts && disturbs(until)) break;
    step(starts ? waiting_.top().at : until);
  }
  now_ = std::max(now_, ended_.empty() && !idle() ? until : clock_);
  for (const FlowId id : ended_) {
    completions.push_back({id, clock_, {}});
    comms_[id].reset();
  }
  under_way_ -= ended_.size();
  ended_.clear();
}

}  // namespace nplus1::netmodel
