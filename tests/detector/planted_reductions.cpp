// Reductions and scans, as people write them.
#include <cmath>
#include <map>

#include "tests/detector/planted.hpp"

namespace nplus1::tests {
namespace {

/// What `from` has at `place`, combined with what lies there at `to`.
void add_at(Planted& o, int from, int to, std::int64_t place, std::int64_t n, int tag = 0) {
  o.y.send({from, place, n, to, kSpare}, tag);
  o.combine(to, place, kSpare, n);
}

void reduce_chain(Planted& o) {
  for (int i = o.p() - 1; i > 0; --i) add_at(o, at(o, i), at(o, i - 1), kVector, o.length);
}
void reduce_binomial(Planted& o) {
  for (int m = 1; m < o.p(); m *= 2)
    for (int r = 0; r + m < o.p(); r += 2 * m) add_at(o, at(o, r + m), at(o, r), kVector, o.length);
}
void reduce_binary_tree(Planted& o) {
  for (int i = o.p() - 1; i > 0; --i) add_at(o, at(o, i), at(o, (i - 1) / 2), kVector, o.length);
}
void reduce_linear(Planted& o) {
  for (int i = 1; i < o.p(); ++i) add_at(o, at(o, i), at(o, 0), kVector, o.length);
}

template <void (*up)(Planted&)>
void up_and_down(Planted& o) {
  up(o);
  ++o.y.site;
  for (int i = 1; i < o.p(); ++i) o.y.send({at(o, (i - 1) / 2), kVector, o.length, at(o, i), kVector}, 3);
  --o.y.site;
}
/// "Textbook": gather, combine, broadcast.
void allreduce_central(Planted& o) {
  reduce_linear(o);
  ++o.y.site;
  for (int i = 1; i < o.p(); ++i) o.y.send({at(o, 0), kVector, o.length, at(o, i), kVector}, 3);
  --o.y.site;
}
void allreduce_doubling(Planted& o) {
  for (int m = 1; m < o.p(); m *= 2) {
    std::vector<Send> sends;
    for (int i = 0; i < o.p(); ++i) sends.push_back({o.rank(i), kVector, o.length, o.rank(i ^ m), kSpare});
    o.y.at_once(sends);
    for (int i = 0; i < o.p(); ++i) o.combine(o.rank(i), kVector, kSpare, o.length);
  }
}
/// Those beyond the largest power of two hand in first, and get the result.
void allreduce_folded(Planted& o) {
  int power = 1;
  while (2 * power <= o.p()) power *= 2;
  for (int i = power; i < o.p(); ++i) add_at(o, o.rank(i), o.rank(i - power), kVector, o.length, 1);
  for (int m = 1; m < power; m *= 2) {
    std::vector<Send> sends;
    for (int i = 0; i < power; ++i) sends.push_back({o.rank(i), kVector, o.length, o.rank(i ^ m), kSpare});
    o.y.at_once(sends, 2);
    for (int i = 0; i < power; ++i) o.combine(o.rank(i), kVector, kSpare, o.length);
  }
  for (int i = power; i < o.p(); ++i) o.y.send({o.rank(i - power), kVector, o.length, o.rank(i), kVector}, 3);
}
/// Block b goes round from member b, each adds its own; then the sums go round. In place.
void reduce_scatter_ring_steps(Planted& o) {
  for (int step = 0; step + 1 < o.p(); ++step) {
    std::vector<Send> sends;
    for (int i = 0; i < o.p(); ++i) {
      const int b = (i - step + o.p()) % o.p();
      sends.push_back({o.rank(i), kVector + o.place(b), o.size(b), o.rank(i + 1), kSpare});
    }
    o.y.at_once(sends);
    for (int i = 0; i < o.p(); ++i) {
      const int b = (i - step - 1 + 2 * o.p()) % o.p();
      o.combine(o.rank(i), kVector + o.place(b), kSpare, o.size(b));
    }
  }
}
void allreduce_ring(Planted& o) {
  reduce_scatter_ring_steps(o);
  ++o.y.site;
  for (int step = 0; step + 1 < o.p(); ++step) {
    std::vector<Send> sends;
    for (int i = 0; i < o.p(); ++i) {
      const int b = (i + 1 - step + o.p()) % o.p();
      sends.push_back({o.rank(i), kVector + o.place(b), o.size(b), o.rank(i + 1), kVector + o.place(b)});
    }
    o.y.at_once(sends);
  }
  --o.y.site;
}
/// Halves, quarters, ... are exchanged and combined, then the results in turn (Rabenseifner).
void allreduce_halving(Planted& o) {
  const auto half = [&](int m, bool back) {
    std::vector<Send> sends;
    std::vector<std::pair<std::int64_t, std::int64_t>> mine;
    for (int i = 0; i < o.p(); ++i) {
      const int group = i / (2 * m) * (2 * m);
      const bool upper = (i & m) != 0;
      const std::int64_t keep = o.place(group + (upper ? m : 0));
      const std::int64_t kept = o.place(group + (upper ? 2 * m : m)) - keep;
      const std::int64_t give = o.place(group + (upper ? 0 : m));
      const std::int64_t given = o.place(group + (upper ? m : 2 * m)) - give;
      if (back)
        sends.push_back({o.rank(i), kVector + keep, kept, o.rank(i ^ m), kVector + keep});
      else
        sends.push_back({o.rank(i), kVector + give, given, o.rank(i ^ m), kSpare});
      mine.emplace_back(keep, kept);
    }
    o.y.at_once(sends);
    for (int i = 0; i < o.p() && !back; ++i) {
      const auto [keep, kept] = mine[static_cast<std::size_t>(i)];
      o.combine(o.rank(i), kVector + keep, kSpare, kept);
    }
  };
  for (int m = o.p() / 2; m > 0; m /= 2) half(m, false);
  ++o.y.site;
  for (int m = 1; m < o.p(); m *= 2) half(m, true);
  --o.y.site;
}

void scan_chain(Planted& o) {
  for (int i = 0; i + 1 < o.p(); ++i) add_at(o, o.rank(i), o.rank(i + 1), kVector, o.length);
}
/// Shifts of 1, 2, 4, ...: each has the sum of more and more before it.
void scan_doubling(Planted& o) {
  for (int m = 1; m < o.p(); m *= 2) {
    std::vector<Send> sends;
    for (int i = 0; i + m < o.p(); ++i)
      sends.push_back({o.rank(i), kVector, o.length, o.rank(i + m), kSpare});
    o.y.at_once(sends);
    for (int i = m; i < o.p(); ++i) o.combine(o.rank(i), kVector, kSpare, o.length);
  }
}

}  // namespace

void Planted::combine(int rank, std::int64_t into, std::int64_t from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double a = y.w.get(rank, into + i);
    const double b = y.w.get(rank, from + i);
    const double c = op == "sum"    ? a + b
                     : op == "prod" ? a * b
                     : op == "max"  ? std::max(a, b)
                                    : std::min(a, b);
    y.w.put(rank, into + i, c);
  }
}

const std::vector<Algorithm>& combining(const std::string& kind) {
  static const std::map<std::string, std::vector<Algorithm>> all{
      {"reduce",
       {{"chain", reduce_chain},
        {"binomial tree", reduce_binomial},
        {"binary tree", reduce_binary_tree},
        {"linear", reduce_linear}}},
      {"allreduce",
       {{"doubling", allreduce_doubling, true},
        {"folded doubling", allreduce_folded},
        {"ring", allreduce_ring},
        {"halving", allreduce_halving, true},
        {"tree and bcast", up_and_down<reduce_binary_tree>},
        {"binomial and bcast", up_and_down<reduce_binomial>},
        {"gather, combine, bcast", allreduce_central}}},
      {"reduce_scatter", {{"ring", reduce_scatter_ring_steps}}},
      {"scan", {{"chain", scan_chain}, {"doubling", scan_doubling}}},
  };
  return all.at(kind);
}

}  // namespace nplus1::tests
