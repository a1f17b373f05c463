// Programs that exchange data in all the ways of real ones, and none of which is a collective operation.
#include <array>
#include <cmath>

#include "tests/detector/play.hpp"
#include "tests/detector/random_programs.hpp"

namespace nplus1::tests {
namespace {

constexpr std::int64_t kIn = 0;
constexpr std::int64_t kOut = 7000;

/// Who sends to whom, the same in each round or new each time.
using Graph = std::vector<std::vector<int>>;

struct Style {
  int rounds;
  std::int64_t length;
  bool uneven;   // lengths differ from pair to pair
  bool packed;   // buffers of all partners side by side
  bool same;     // all partners get the same
  bool at_once;  // posted before anything is received
  bool lines;    // a call for each partner's place in the list
};

Style style_of(Play& y) {
  Dice& d = y.dice;
  const std::int64_t length = d.chance(0.25) ? 1 : d.chance(0.3) ? d.between(2, 8) : d.between(9, 120);
  return {d.between(1, 6), length, d.chance(0.3), d.chance(0.7), false, d.chance(0.75), d.chance(0.3)};
}

std::int64_t length_of(const Style& s, int from, int to) {
  if (!s.uneven) return s.length;
  return 1 + (s.length * (2 + (from * 7 + to * 3) % 5)) / 4;
}

/// One round of an exchange along a graph.
void exchange(Play& y, const Style& s, const Graph& to) {
  const int first_site = y.site;
  std::vector<std::pair<Send, int>> sends;
  std::vector<std::int64_t> in(static_cast<std::size_t>(y.p()), kIn);
  for (int r = 0; r < y.p(); ++r) {
    std::int64_t at = kOut;
    const auto& partners = to[static_cast<std::size_t>(r)];
    if (s.same) y.draw(r, kOut, s.length * 2 + 4);
    for (std::size_t k = 0; k < partners.size(); ++k) {
      const std::int64_t n = s.same ? s.length : length_of(s, r, partners[k]);
      if (!s.same) y.draw(r, at, n);
      std::int64_t& place = in[static_cast<std::size_t>(partners[k])];
      sends.push_back(
          {{r, at, n, partners[k], place}, s.lines ? first_site + static_cast<int>(k) : first_site});
      place += n + (s.packed ? 0 : 3);
      if (!s.same) at += n + (s.packed ? 0 : 5);
    }
  }
  std::vector<World::Message> under_way;
  if (!s.at_once) y.dice.shuffle(sends);
  for (const auto& [m, site] : sends) {
    const World::Call call{.site = site};
    if (s.at_once)
      under_way.push_back(y.w.post(m.from, m.at, m.count, m.to, call));
    else
      y.w.send(m.from, m.at, m.count, m.to, m.into, call);
  }
  for (std::size_t i = 0; i < under_way.size(); ++i)
    y.w.receive(under_way[i], sends[i].first.into, {.site = sends[i].second});
}

void exchanges(Play& y, const Style& s, const Graph& to) {
  for (int k = 0; k < s.rounds; ++k) exchange(y, s, to);
  y.site += 10;
}

/// The extents of a grid of all ranks.
std::vector<int> grid_of(Play& y) {
  std::vector<int> extents;
  int rest = y.p();
  for (int dims = y.dice.between(1, 3); dims > 1 && rest > 1; --dims) {
    std::vector<int> divisors;
    for (int d = 2; d <= rest; ++d)
      if (rest % d == 0) divisors.push_back(d);
    extents.push_back(y.dice.of(divisors));
    rest /= extents.back();
  }
  if (rest > 1 || extents.empty()) extents.push_back(rest);
  return extents;
}

int moved(const std::vector<int>& extents, int rank, const std::vector<int>& by, bool periodic) {
  int stride = 1;
  int result = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    int at = rank / stride % extents[d] + by[d];
    if (periodic) at = (at + extents[d]) % extents[d];
    if (at < 0 || at >= extents[d]) return -1;
    result += at * stride;
    stride *= extents[d];
  }
  return result;
}

bool are_all_neighbours(const Graph& graph) {
  return std::ranges::all_of(graph, [&](const auto& to) { return to.size() + 1 == graph.size(); });
}

void halo(Play& y) {
  const std::vector<int> extents = grid_of(y);
  const bool periodic = y.dice.chance(0.6);
  const bool corners = y.dice.chance(0.3);
  Graph graph(static_cast<std::size_t>(y.p()));
  const auto add = [&](int r, const std::vector<int>& by) {
    const int to = moved(extents, r, by, periodic);
    auto& list = graph[static_cast<std::size_t>(r)];
    if (to >= 0 && to != r && std::ranges::find(list, to) == list.end()) list.push_back(to);
  };
  for (int r = 0; r < y.p(); ++r) {
    if (!corners) {
      for (std::size_t d = 0; d < extents.size(); ++d)
        for (const int step : {-1, 1}) {
          std::vector<int> by(extents.size());
          by[d] = step;
          add(r, by);
        }
      continue;
    }
    const int all = static_cast<int>(std::lround(std::pow(3, static_cast<double>(extents.size()))));
    for (int code = 0; code < all; ++code) {
      std::vector<int> by;
      for (int rest = code; by.size() < extents.size(); rest /= 3) by.push_back(rest % 3 - 1);
      add(r, by);
    }
  }
  Style s = style_of(y);
  // The same to all, where all are neighbours, would be an allgather; on a line of three its middle broadcasts.
  s.same = y.dice.chance(0.25) && !are_all_neighbours(graph) && y.p() > 3;
  exchanges(y, s, graph);
}

/// Each rank sends to some of the others, who are others each time.
void sparse(Play& y) {
  Style s = style_of(y);
  const double share = 0.2 + 0.6 * y.dice.real();
  for (int k = 0; k < s.rounds; ++k) {
    Graph graph(static_cast<std::size_t>(y.p()));
    for (int r = 0; r < y.p(); ++r)
      for (int to = 0; to < y.p(); ++to)
        if (to != r && y.dice.chance(share)) graph[static_cast<std::size_t>(r)].push_back(to);
    // A star would be a gather, or a scatter; everybody is to send and to receive something.
    for (int r = 0; r < y.p(); ++r) {
      auto& to = graph[static_cast<std::size_t>(r)];
      if (std::ranges::find(to, (r + 1) % y.p()) == to.end()) to.push_back((r + 1) % y.p());
      if (y.dice.chance(0.5)) y.dice.shuffle(to);
    }
    exchange(y, s, graph);
  }
  y.site += 10;
}

/// To the next, and the next but k, in a ring or a line.
void shifts(Play& y) {
  const Style s = style_of(y);
  const int distance = y.dice.between(1, y.p() - 1);
  const bool ring = y.dice.chance(0.5);
  const int rounds = y.dice.between(1, 3 * y.p());
  for (int k = 0; k < rounds; ++k) {
    std::vector<Send> sends;
    for (int r = 0; r < y.p(); ++r) {
      if (!ring && r + distance >= y.p()) continue;
      y.draw(r, kOut, s.length);
      sends.push_back({r, kOut, s.length, (r + distance) % y.p(), kIn});
    }
    if (s.at_once || ring)
      y.at_once(sends);
    else
      for (const Send& m : sends) y.send(m);
  }
  ++y.site;
}

/// Blocks go round a ring, and are worked on in between.
void systolic(Play& y) {
  const Style s = style_of(y);
  const bool changed = y.dice.chance(0.5);
  const int steps = changed ? y.dice.between(1, 2 * y.p()) : y.dice.between(1, y.p() - 2);
  for (int r = 0; r < y.p(); ++r) y.draw(r, kOut, s.length);
  for (int k = 0; k < steps; ++k) {
    std::vector<Send> sends;
    for (int r = 0; r < y.p(); ++r) sends.push_back({r, kOut, s.length, (r + 1) % y.p(), kIn});
    y.at_once(sends);
    for (int r = 0; r < y.p(); ++r) {
      y.w.copy(r, kOut, kIn, s.length);
      if (changed) y.draw(r, kOut, (s.length + 1) / 2);
    }
  }
  ++y.site;
}

/// Sweeps over a grid: each rank waits for two, works, and sends to two.
void wavefront(Play& y) {
  const Style s = style_of(y);
  int columns = 1;
  for (int c = 1; c <= y.p(); ++c)
    if (y.p() % c == 0 && (c == 1 || y.dice.chance(0.6))) columns = c;
  const int rows = y.p() / columns;
  const bool same = y.dice.chance(0.3) && rows > 1 && columns > 1 && y.p() > 4;
  for (int k = 0; k < s.rounds; ++k) {
    const bool back = k % 2 == 1;
    for (int i = 0; i < y.p(); ++i) {
      const int r = back ? y.p() - 1 - i : i;
      const int step = back ? -1 : 1;
      const int row = r / columns;
      const int column = r % columns;
      if (!same || (row + step >= 0 && row + step < rows)) y.draw(r, kOut, 2 * s.length);
      if (column + step >= 0 && column + step < columns) y.send({r, kOut, s.length, r + step, kIn});
      if (row + step >= 0 && row + step < rows)
        y.send({r, same ? kOut : kOut + s.length, s.length, r + step * columns, kIn + s.length});
    }
  }
  ++y.site;
}

/// Tasks to whoever is free, results back.
void task_farm(Play& y) {
  const Style s = style_of(y);
  const int tasks = y.dice.between(2 * y.p(), 5 * y.p());
  const bool array = y.dice.chance(0.5);
  const bool answers = y.dice.chance(0.8);
  const bool results_kept = y.dice.chance(0.5);
  const std::int64_t n = std::min<std::int64_t>(s.length, 40);
  std::vector<int> busy;
  for (int k = 0; k < tasks; ++k) {
    const int worker = k < y.p() - 1 && answers ? k + 1 : y.dice.between(1, y.p() - 1);
    const std::int64_t place = array ? kOut + k * n : kOut;
    y.draw(0, place, n);
    y.site += 0;
    y.w.send(0, place, n, worker, kIn, {.site = y.site});
    if (!answers) continue;
    y.draw(worker, kOut, n);
    y.w.send(worker, kOut, n, 0, kIn + (results_kept ? k * n : 0), {.site = y.site + 1});
  }
  y.site += 2;
}

/// Rows and columns change places: each rank has one partner, or none.
void grid_transpose(Play& y) {
  const Style s = style_of(y);
  int side = 1;
  while ((side + 1) * (side + 1) <= y.p()) ++side;
  Graph graph(static_cast<std::size_t>(y.p()));
  for (int r = 0; r < side * side; ++r) {
    const int to = r % side * side + r / side;
    if (to != r) graph[static_cast<std::size_t>(r)] = {to};
  }
  exchanges(y, s, graph);
}

/// All to all but some pairs.
void incomplete_transpose(Play& y) {
  const Style s = style_of(y);
  Graph graph(static_cast<std::size_t>(y.p()));
  const int left_out = y.dice.between(0, y.p() - 1);
  for (int r = 0; r < y.p(); ++r)
    for (int k = 1; k < y.p(); ++k) {
      const int to = (r + k) % y.p();
      const bool none = (r == left_out && k == 1) || (y.p() > 3 && y.dice.chance(0.05));
      if (!none) graph[static_cast<std::size_t>(r)].push_back(to);
    }
  exchanges(y, s, graph);
}

/// Neighbours compare and exchange, in turn with the lower and the upper one.
void odd_even_sort(Play& y) {
  const Style s = style_of(y);
  for (int r = 0; r < y.p(); ++r) y.draw(r, kOut, s.length);
  for (int k = 0; k < y.p(); ++k) {
    for (int r = k % 2; r + 1 < y.p(); r += 2) {
      y.at_once({{r, kOut, s.length, r + 1, kIn}, {r + 1, kOut, s.length, r, kIn}});
      for (std::int64_t i = 0; i < s.length; ++i) {
        const double a = y.w.get(r, kOut + i);
        const double b = y.w.get(r + 1, kOut + i);
        y.w.put(r, kOut + i, std::min(a, b));
        y.w.put(r + 1, kOut + i, std::max(a, b));
      }
    }
  }
  ++y.site;
}

/// Each stage works on what it gets and passes it on.
void pipeline(Play& y) {
  const Style s = style_of(y);
  const int items = y.dice.between(1, 8);
  for (int k = 0; k < items; ++k)
    for (int r = 0; r + 1 < y.p(); ++r) {
      y.draw(r, kOut, s.length);
      y.send({r, kOut, s.length, r + 1, kIn});
    }
  ++y.site;
}

/// Between random ranks.
void random_messages(Play& y) {
  const Style s = style_of(y);
  const int messages = y.dice.between(3 * y.p(), 12 * y.p());
  for (int k = 0; k < messages; ++k) {
    const int from = y.dice.between(0, y.p() - 1);
    const int to = (from + y.dice.between(1, y.p() - 1)) % y.p();
    y.draw(from, kOut, s.length);
    y.send({from, kOut, s.length, to, kIn});
  }
  ++y.site;
}

/// Clocks after Lamport: the largest that is known, and one more.
void logical_clocks(Play& y) {
  const int messages = y.dice.between(3 * y.p(), 10 * y.p());
  std::vector<double> clocks(static_cast<std::size_t>(y.p()));
  for (int k = 0; k < messages; ++k) {
    const int from = y.dice.between(0, y.p() - 1);
    const int to = (from + y.dice.between(1, y.p() - 1)) % y.p();
    double& mine = clocks[static_cast<std::size_t>(from)];
    double& its = clocks[static_cast<std::size_t>(to)];
    mine += y.dice.between(1, 1'000'000);
    y.w.put(from, kOut, mine);
    y.send({from, kOut, 1, to, kIn});
    its = std::max(its, mine) + 1;
  }
  ++y.site;
}

/// Something of each rank's own goes up a tree, or down; nobody passes anything on.
void tree_of_own_data(Play& y) {
  const Style s = style_of(y);
  const bool up = y.dice.chance(0.5);
  const bool both = y.dice.chance(0.3);
  for (int k = 0; k < s.rounds; ++k) {
    std::vector<std::pair<int, int>> edges;
    for (int m = 1; m < y.p(); m *= 2)
      for (int r = 0; r + m < y.p(); r += 2 * m) edges.emplace_back(r, r + m);
    const auto go = [&](bool upwards) {
      for (const auto& [parent, child] : edges) {
        const int from = upwards ? child : parent;
        y.draw(from, kOut, s.length);
        y.send({from, kOut, s.length, upwards ? parent : child, kIn});
      }
    };
    if (up || both) go(true);
    std::ranges::reverse(edges);
    if (!up || both) go(false);
  }
  ++y.site;
}

/// Some get the same, other ones each time.
void subscribers(Play& y) {
  const Style s = style_of(y);
  const int rounds = y.dice.between(4, 20);
  const std::int64_t n = s.length;
  for (int k = 0; k < rounds; ++k) {
    const int from = y.dice.between(0, y.p() - 1);
    y.draw(from, kOut, n);
    for (int to = 0; to < y.p(); ++to)
      if (to != from && y.dice.chance(0.4)) y.send({from, kOut, n, to, kIn});
  }
  ++y.site;
}

using Phase = void (*)(Play&);
const std::vector<std::pair<std::string, Phase>>& phases() {
  static const std::vector<std::pair<std::string, Phase>> all{
      {"halo", halo},
      {"sparse exchange", sparse},
      {"shifts", shifts},
      {"systolic ring", systolic},
      {"wavefront", wavefront},
      {"task farm", task_farm},
      {"grid transpose", grid_transpose},
      {"incomplete transpose", incomplete_transpose},
      {"odd-even sort", odd_even_sort},
      {"pipeline", pipeline},
      {"random messages", random_messages},
      {"logical clocks", logical_clocks},
      {"tree of own data", tree_of_own_data},
      {"changing subscribers", subscribers},
  };
  return all;
}

}  // namespace

RandomProgram program_without_collective(std::uint64_t seed) {
  Dice dice{seed};
  RandomProgram program;
  program.ranks = dice.between(3, 17);
  program.type = dice.of(std::vector{World::Type::kInt64, World::Type::kInt32, World::Type::kDouble,
                                     World::Type::kDouble, World::Type::kFloat});
  const Values values = dice.of(std::vector{Values::kMany, Values::kMany, Values::kSigned, Values::kFew,
                                            Values::kMostlyZero, Values::kGrowing, Values::kSame});
  const std::uint64_t own = dice.bits();
  // One kind of exchange, or a mixture: from other lines each, or all from the same.
  std::vector<Phase> chosen{};
  const bool mixed = dice.chance(0.3);
  const int n = mixed ? dice.between(2, 4) : 1;
  const bool one_line = dice.chance(0.3);
  for (int k = 0; k < n; ++k) {
    const auto& [name, phase] = dice.of(phases());
    chosen.push_back(phase);
    program.family = mixed ? "mixture" : name;
  }
  program.play = [=](World& w) {
    Play y{w, Dice{own}, values};
    for (const Phase phase : chosen) {
      if (one_line) y.site = 1;
      phase(y);
    }
  };
  return program;
}

}  // namespace nplus1::tests
