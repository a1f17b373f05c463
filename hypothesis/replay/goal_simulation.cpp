#include "hypothesis/replay/goal_simulation.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "events/limits.hpp"
#include "hypothesis/replay/goal_matching.hpp"

namespace nplus1::hypothesis {
namespace {

using events::goal::Graph;
using events::goal::Operation;
using events::goal::What;

/// An operation that may start, or the first byte of a message at its receiver.
struct Next {
  Time at;
  std::uint64_t
      order;  // in which they came up: it decides between those of one instant, however often they are put off
  bool message = false;
  std::uint32_t rank;       // where it happens
  std::uint32_t sender;     // of a message
  std::uint32_t operation;  // the rank's; of a message: the sender's
  bool in_line = false;     // with others that need the same
  friend bool operator>(const Next& a, const Next& b) {
    return std::tie(a.at, a.order) > std::tie(b.at, b.order);
  }
};

struct InOrder {
  bool operator()(const Next& a, const Next& b) const { return a.order > b.order; }
};

/// Who waits for the same processor and interface of a rank. The first tries again when they are free, the others after it:
/// if all tried each time, many would take the square of their number.
struct Line {
  std::priority_queue<Next, std::vector<Next>, InOrder> waiting;
  Time next_try;  // of the first
};

/// When each of a rank's processors or interfaces is free; as many as are used.
class FreeTimes {
 public:
  Time& operator[](std::uint8_t which) {
    if (which >= times_.size()) times_.resize(which + std::size_t{1});
    return times_[which];
  }
  [[nodiscard]] Time last() const {
    return times_.empty() ? Time{} : *std::max_element(times_.begin(), times_.end());
  }

 private:
  std::vector<Time> times_;
};

struct Rank {
  const Graph* graph = nullptr;
  std::vector<std::uint32_t> awaited;                     // by operation: how much it still waits for
  std::vector<std::vector<std::uint32_t>> after_start{};  // by operation: who waits for that
  std::vector<std::vector<std::uint32_t>> after_end{};
  std::vector<std::uint32_t> free;  // operations that may start now
  PostedReceives posted;
  UnexpectedMessages unexpected;
  FreeTimes processors;
  FreeTimes sending;  // interfaces, for the next send
  FreeTimes receiving;
  std::uint64_t left = 0;  // operations that have not ended
};

class GoalSimulation {
 public:
  GoalSimulation(const std::vector<Graph>& graphs, const netmodel::LogGops& network)
      : network_{network}, overhead_{network.send_overhead(bytes(1))}, ranks_(graphs.size()) {
    for (std::uint32_t r = 0; r < graphs.size(); ++r) prepare(ranks_[r], graphs[r]);
    for (std::uint32_t r = 0; r < graphs.size(); ++r) start_free(r);
  }

  GoalEnds run() {
    while (!goals_.empty() && !too_long_) {
      const Next goal = goals_.top();
      goals_.pop();
      if (goal.in_line && !is_first_in_line(goal)) continue;
      changed_.clear();
      go(goal);
      std::sort(changed_.begin(), changed_.end());
      changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
      for (const std::uint32_t rank : changed_) start_free(rank);
    }
    GoalEnds ends;
    ends.messages = messages_;
    ends.too_long = too_long_;
    for (const Rank& rank : ranks_) {
      ends.ends.push_back(rank.processors.last());
      ends.unreceived += rank.unexpected.size();
      ends.unfinished += rank.left;
    }
    return ends;
  }

 private:
  static void prepare(Rank& rank, const Graph& graph) {
    const std::size_t operations = graph.operations.size();
    rank.graph = &graph;
    rank.left = operations;
    rank.awaited.resize(operations);
    rank.after_start.resize(operations);
    rank.after_end.resize(operations);
    for (const events::goal::Dependence& d : graph.dependences) {
      ++rank.awaited[d.operation];
      (d.on_start ? rank.after_start : rank.after_end)[d.on].push_back(d.operation);
    }
    for (std::uint32_t i = 0; i < operations; ++i)
      if (rank.awaited[i] == 0) rank.free.push_back(i);
  }

  [[nodiscard]] const Operation& of(std::uint32_t rank, std::uint32_t operation) const {
    return ranks_[rank].graph->operations[operation];
  }

  /// What may start at once, starts in this order: sends, receives, computing.
  void start_free(std::uint32_t r) {
    Rank& rank = ranks_[r];
    const auto place = [&](std::uint32_t i) {
      const What what = of(r, i).what;
      return what == What::kSend ? 0 : what == What::kReceive ? 1 : 2;
    };
    std::stable_sort(rank.free.begin(), rank.free.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
    for (const std::uint32_t i : rank.free) {
      const Operation& o = of(r, i);
      Time at = rank.processors[o.cpu];
      if (o.what == What::kSend) at = std::max(at, rank.sending[o.nic]);
      goals_.push({at, order_++, false, r, 0, i});
    }
    rank.free.clear();
  }

  void let_follow(std::uint32_t r, const std::vector<std::uint32_t>& followers) {
    for (const std::uint32_t follower : followers)
      if (--ranks_[r].awaited[follower] == 0) ranks_[r].free.push_back(follower);
    changed_.push_back(r);
  }
  void started(std::uint32_t r, std::uint32_t operation) { let_follow(r, ranks_[r].after_start[operation]); }
  void ended(std::uint32_t r, std::uint32_t operation) {
    --ranks_[r].left;
    let_follow(r, ranks_[r].after_end[operation]);
  }

  void go(const Next& goal) {
    if (goal.message) return take(goal);
    switch (of(goal.rank, goal.operation).what) {
      case What::kCalc:
        return compute(goal);
      case What::kSend:
        return send(goal);
      case What::kReceive:
        return receive(goal);
    }
  }

  /// Of a rank, what an operation or a message takes there.
  [[nodiscard]] std::uint64_t need_of(const Next& goal) const {
    const Operation& o = of(goal.message ? goal.sender : goal.rank, goal.operation);
    const std::uint64_t kind = goal.message ? 2 : o.what == What::kSend ? 1 : 0;
    return std::uint64_t{goal.rank} << 24U | kind << 16U | std::uint64_t{o.cpu} << 8U |
           (kind == 0 ? 0U : o.nic);
  }

  [[nodiscard]] bool is_first_in_line(const Next& goal) {
    const Line& line = lines_[need_of(goal)];
    return !line.waiting.empty() && line.waiting.top().order == goal.order && line.next_try == goal.at;
  }

  /// Tries again when what it needs is free; its place among others of that instant stays. Whether it had to.
  bool put_off(Next goal, Time free) {
    const bool has_to = free > goal.at;
    if (!has_to && !goal.in_line) return false;
    Line& line = lines_[need_of(goal)];
    if (goal.in_line) line.waiting.pop();
    if (has_to) {
      goal.in_line = true;
      line.waiting.push(goal);
    }
    const bool first = !line.waiting.empty() && (!has_to || line.waiting.top().order == goal.order);
    if (first) try_again(line, has_to ? free : goal.at);
    return has_to;
  }
  /// Its first, then.
  void try_again(Line& line, Time at) {
    Next first = line.waiting.top();
    first.at = at;
    line.next_try = at;
    goals_.push(first);
  }

  /// What the simulation comes to an end at if it is later than any time that is told.
  Time later(Time at, Duration by) {
    const Duration sum = events::sum_within(at.time_since_epoch(), by);
    too_long_ = too_long_ || sum == events::kBeyond;
    return Time{sum};
  }

  void compute(const Next& goal) {
    const Operation& o = of(goal.rank, goal.operation);
    Time& processor = ranks_[goal.rank].processors[o.cpu];
    if (put_off(goal, processor)) return;
    processor = later(goal.at, std::chrono::nanoseconds{o.amount});
    started(goal.rank, goal.operation);
    ended(goal.rank, goal.operation);
  }

  void send(const Next& goal) {
    const Operation& o = of(goal.rank, goal.operation);
    Rank& rank = ranks_[goal.rank];
    if (put_off(goal, std::max(rank.processors[o.cpu], rank.sending[o.nic]))) return;
    const Bytes size = bytes(o.amount);
    rank.processors[o.cpu] = later(goal.at, network_.send_overhead(size));
    rank.sending[o.nic] = later(goal.at, network_.occupancy(size));
    ++messages_;
    started(goal.rank, goal.operation);
    goals_.push({later(goal.at, overhead_ + network_.latency()), order_++, true,
                 static_cast<std::uint32_t>(o.peer), goal.rank, goal.operation});
    if (network_.eager(size)) ended(goal.rank, goal.operation);
  }

  void receive(const Next& goal) {
    const Operation& o = of(goal.rank, goal.operation);
    Rank& rank = ranks_[goal.rank];
    started(goal.rank, goal.operation);
    const auto met = rank.unexpected.take({o.peer, o.tag});
    if (!met) return rank.posted.push({{o.peer, o.tag}, goal.operation});
    release(static_cast<std::uint32_t>(met->envelope.source), met->operation, goal.at, o);
    ended(goal.rank, goal.operation);
  }

  /// The sender of a message above S goes on when that has met its receive. `by` names processor and interface.
  void release(std::uint32_t sender, std::uint32_t operation, Time at, const Operation& by) {
    if (network_.eager(bytes(of(sender, operation).amount))) return;
    Rank& rank = ranks_[sender];
    rank.processors[by.cpu] = std::max(rank.processors[by.cpu], at);
    rank.sending[by.nic] = std::max(rank.sending[by.nic], at);
    ended(sender, operation);
  }

  /// The receiver's processor is busy with a message from its first byte to its last.
  void take(const Next& goal) {
    const Operation& o = of(goal.sender, goal.operation);
    Rank& rank = ranks_[goal.rank];
    if (put_off(goal, std::max(rank.processors[o.cpu], rank.receiving[o.nic]))) return;
    const Bytes size = bytes(o.amount);
    rank.processors[o.cpu] =
        later(goal.at, std::max(network_.receive_overhead(size), overhead_ + network_.bytes_take(size)));
    rank.receiving[o.nic] = later(goal.at, network_.occupancy(size));
    const auto source = static_cast<std::int32_t>(goal.sender);
    const auto met = rank.posted.take({source, o.tag});
    if (!met) return rank.unexpected.push({{source, o.tag}, goal.operation});
    release(goal.sender, goal.operation, goal.at, o);
    ended(goal.rank, met->operation);
  }

  const netmodel::LogGops& network_;
  Duration overhead_;
  std::vector<Rank> ranks_;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> goals_;
  std::unordered_map<std::uint64_t, Line> lines_;  // by what is needed
  std::vector<std::uint32_t> changed_;
  std::uint64_t order_ = 0;
  std::uint64_t messages_ = 0;
  bool too_long_ = false;
};

}  // namespace

GoalEnds simulate(const std::vector<Graph>& graphs, netmodel::LogGops::Parameters parameters) {
  parameters.both_interfaces = true;
  const netmodel::LogGops network{parameters};
  return GoalSimulation{graphs, network}.run();
}

}  // namespace nplus1::hypothesis
