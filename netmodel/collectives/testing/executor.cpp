#include "netmodel/collectives/testing/executor.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace nplus1::netmodel::testing {
namespace {

struct Message {
  Duration arrival;
  Members depends_on;
};

class Execution {
 public:
  Execution(const std::vector<CollectiveCall>& calls, const Selection& selection, const NetworkModel& network)
      : network_{network}, steps_(calls.size()), next_(calls.size()), started_(calls.size()) {
    for (std::size_t m = 0; m < calls.size(); ++m) append_steps(calls[m], selection, steps_[m]);
    outcome_.left.resize(calls.size());
    outcome_.sent.resize(calls.size());
    outcome_.messages.resize(calls.size());
    for (std::size_t m = 0; m < calls.size(); ++m) outcome_.depends_on.push_back(Members{1} << m);
  }

  Outcome run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t m = 0; m < steps_.size(); ++m) {
        while (advance(m)) moved = true;
      }
    }
    outcome_.finished = true;
    for (std::size_t m = 0; m < steps_.size(); ++m) outcome_.finished &= next_[m] == steps_[m].size();
    for (const auto& [pair, queue] : in_flight_) outcome_.unreceived += queue.size();
    return outcome_;
  }

 private:
  using Pair = std::pair<std::int32_t, std::int32_t>;

  bool advance(std::size_t m) {
    if (next_[m] == steps_[m].size()) return false;
    const Step& step = steps_[m][next_[m]];
    const bool starts = !started_[m];
    if (starts) start_send(m, step);
    started_[m] = true;
    if (step.receive_from != kNoMember && !finish_receive(m, step)) return starts;
    started_[m] = false;
    ++next_[m];
    return true;
  }

  void start_send(std::size_t m, const Step& step) {
    if (step.send_to == kNoMember) return;
    if (static_cast<std::size_t>(step.send_to) >= steps_.size()) throw std::out_of_range{"send to nobody"};
    if (count(step.size) < 0) throw std::out_of_range{"negative size"};
    const auto me = static_cast<std::int32_t>(m);
    const bool signal = step.transport == Transport::kSignal;
    const Duration transit =
        signal ? Duration{} : network_.transit(RankId{me}, RankId{step.send_to}, step.size);
    in_flight_[{me, step.send_to}].push_back({outcome_.left[m] + transit, outcome_.depends_on[m]});
    outcome_.sent[m] += count(step.size);
    ++outcome_.messages[m];
  }

  bool finish_receive(std::size_t m, const Step& step) {
    auto& queue = in_flight_[{step.receive_from, static_cast<std::int32_t>(m)}];
    if (queue.empty()) return false;
    outcome_.left[m] = std::max(outcome_.left[m], queue.front().arrival);
    outcome_.depends_on[m] |= queue.front().depends_on;
    queue.pop_front();
    return true;
  }

  const NetworkModel& network_;
  std::vector<std::vector<Step>> steps_;
  std::vector<std::size_t> next_;
  std::vector<bool> started_;  // whether the send of the next step is on its way
  std::map<Pair, std::deque<Message>> in_flight_;
  Outcome outcome_;
};

}  // namespace

std::int64_t Outcome::total_sent() const {
  return std::accumulate(sent.begin(), sent.end(), std::int64_t{0});
}

Duration Outcome::makespan() const {
  return *std::max_element(left.begin(), left.end());
}

Outcome execute(const std::vector<CollectiveCall>& calls, const Selection& selection,
                const NetworkModel& network) {
  return Execution{calls, selection, network}.run();
}

std::vector<CollectiveCall> everywhere(CollectiveCall call, std::int32_t members) {
  call.members = members;
  std::vector<CollectiveCall> calls(static_cast<std::size_t>(members), call);
  for (std::int32_t m = 0; m < members; ++m) calls[static_cast<std::size_t>(m)].me = m;
  return calls;
}

Selection select(CollectiveKind kind, std::string_view name) {
  auto selection = Selection::parse(std::string{kind_name(kind)}.append("=").append(name));
  if (!selection) throw std::invalid_argument{selection.error().what};
  return selection.value();
}

}  // namespace nplus1::netmodel::testing
