// Broadcasts, scatters, gathers, allgathers, alltoalls and barriers, as people write them.
#include <map>

#include "tests/detector/planted.hpp"

namespace nplus1::tests {
namespace {

void pass(Planted& o, int from, int to, std::int64_t place, std::int64_t n, int tag = 0) {
  o.y.send({from, place, n, to, place}, tag);
}

// Broadcasts: of the vector of the root.

void bcast_linear(Planted& o) {
  for (int i = 1; i < o.p(); ++i) pass(o, at(o, 0), at(o, i), kVector, o.length);
}
void bcast_chain(Planted& o) {
  for (int i = 1; i < o.p(); ++i) pass(o, at(o, i - 1), at(o, i), kVector, o.length);
}
void bcast_ring(Planted& o) {
  bcast_chain(o);
  o.y.send({at(o, -1), kVector, o.length, at(o, 0), kSpare});
}
void bcast_binomial(Planted& o) {
  int top = 1;
  while (top < o.p()) top *= 2;
  for (int m = top / 2; m > 0; m /= 2)
    for (int r = 0; r + m < o.p(); r += 2 * m) pass(o, at(o, r), at(o, r + m), kVector, o.length);
}
void bcast_binary_tree(Planted& o) {
  for (int i = 1; i < o.p(); ++i) pass(o, at(o, (i - 1) / 2), at(o, i), kVector, o.length);
}
void bcast_pipelined(Planted& o) {
  const std::int64_t pieces = std::min<std::int64_t>(o.length, 4);
  for (std::int64_t k = 0; k < pieces; ++k) {
    const std::int64_t begin = o.length * k / pieces;
    for (int i = 1; i < o.p(); ++i)
      pass(o, at(o, i - 1), at(o, i), kVector + begin, o.length * (k + 1) / pieces - begin);
  }
}
/// Scatter, then a ring of the pieces.
void bcast_long(Planted& o) {
  const std::int64_t n = o.length * o.p();
  const auto begin = [&](int i) { return kVector + n * i / o.p(); };
  for (int i = 1; i < o.p(); ++i) pass(o, at(o, 0), at(o, i), begin(i), begin(i + 1) - begin(i), 1);
  for (int step = 0; step + 1 < o.p(); ++step) {
    std::vector<Send> sends;
    for (int i = 0; i < o.p(); ++i) {
      const int b = (i - step + o.p()) % o.p();
      sends.push_back({at(o, i), begin(b), begin(b + 1) - begin(b), at(o, i + 1), begin(b)});
    }
    o.y.at_once(sends, 2);
  }
}
/// Who is free asks; the answer is the same for all.
void bcast_queue(Planted& o) {
  std::vector<int> workers;
  for (int i = 1; i < o.p(); ++i) workers.push_back(i);
  o.y.dice.shuffle(workers);
  for (const int i : workers) {
    o.y.w.send(at(o, i), 0, 0, at(o, 0), 0, {.site = o.y.site, .tag = 1});
    o.y.w.send(at(o, 0), kVector, o.length, at(o, i), kVector, {.site = o.y.site + 1, .tag = 2});
  }
}

// Scatters: block b of the root's vector to member b.

void scatter_linear(Planted& o) {
  for (int b = 0; b < o.p(); ++b)
    if (b != o.root) o.y.send({o.rank(o.root), kVector + o.place(b), o.size(b), o.rank(b), kSpare});
}
/// The halves of what is left go down a tree, from where they came to lie.
void scatter_tree(Planted& o, bool repacked) {
  // At the root in the order of the tree, which begins with it.
  const auto begin = [&](int relative) {
    std::int64_t n = 0;
    for (int i = 0; i < relative; ++i) n += o.size((o.root + i) % o.p());
    return n;
  };
  std::map<int, std::int64_t> base{{0, 0}};  // where each member's part of the tree begins
  int top = 1;
  while (top < o.p()) top *= 2;
  for (int m = top / 2; m > 0; m /= 2)
    for (int r = 0; r + m < o.p(); r += 2 * m) {
      const std::int64_t first = begin(r + m);
      const std::int64_t n = begin(std::min(r + 2 * m, o.p())) - first;
      const std::int64_t from = kVector + base.at(r) + first - begin(r);
      if (repacked) o.y.w.copy(at(o, r), Planted::kThird, from, n);
      o.y.send({at(o, r), repacked ? Planted::kThird : from, n, at(o, r + m), kVector});
      base[r + m] = 0;
    }
}
void scatter_binomial(Planted& o) {
  scatter_tree(o, false);
}
void scatter_repacked(Planted& o) {
  scatter_tree(o, true);
}

// Gathers: block b of the root's vector from member b.

void gather_linear(Planted& o) {
  std::vector<Send> sends;
  for (int b = 0; b < o.p(); ++b)
    if (b != o.root) sends.push_back({o.rank(b), kSpare, o.size(b), o.rank(o.root), kVector + o.place(b)});
  o.y.at_once(sends);
}
void gather_tree(Planted& o, bool repacked) {
  const auto begin = [&](int relative) {
    std::int64_t n = 0;
    for (int i = 0; i < relative; ++i) n += o.size((o.root + i) % o.p());
    return n;
  };
  for (int i = 0; i < o.p(); ++i) o.y.w.copy(at(o, i), kVector, kSpare, o.size((o.root + i) % o.p()));
  for (int m = 1; m < o.p(); m *= 2)
    for (int r = 0; r + m < o.p(); r += 2 * m) {
      const std::int64_t n = begin(std::min(r + 2 * m, o.p())) - begin(r + m);
      const std::int64_t into = kVector + begin(r + m) - begin(r);
      if (repacked) o.y.w.copy(at(o, r + m), Planted::kThird, kVector, n);
      o.y.send({at(o, r + m), repacked ? Planted::kThird : kVector, n, at(o, r), into});
    }
}
void gather_binomial(Planted& o) {
  gather_tree(o, false);
}
void gather_repacked(Planted& o) {
  gather_tree(o, true);
}

// Allgathers: block b of all vectors is member b's.

void allgather_ring(Planted& o) {
  for (int step = 0; step + 1 < o.p(); ++step) {
    std::vector<Send> sends;
    for (int i = 0; i < o.p(); ++i) {
      const int b = (i - step + o.p()) % o.p();
      sends.push_back({o.rank(i), kVector + o.place(b), o.size(b), o.rank(i + 1), kVector + o.place(b)});
    }
    o.y.at_once(sends);
  }
}
void allgather_linear(Planted& o) {
  std::vector<Send> sends;
  for (int i = 0; i < o.p(); ++i)
    for (int k = 1; k < o.p(); ++k)
      sends.push_back({o.rank(i), kVector + o.place(i), o.size(i), o.rank(i + k), kVector + o.place(i)});
  o.y.at_once(sends);
}
void allgather_doubling(Planted& o) {
  for (int m = 1; m < o.p(); m *= 2) {
    std::vector<Send> sends;
    for (int i = 0; i < o.p(); ++i) {
      const int b = i / m * m;
      sends.push_back({o.rank(i), kVector + o.place(b), o.place(b + m) - o.place(b), o.rank(i ^ m),
                       kVector + o.place(b)});
    }
    o.y.at_once(sends);
  }
}
void allgather_gather_bcast(Planted& o) {
  std::vector<Send> sends;
  const int root = o.rank(o.root);
  for (int b = 0; b < o.p(); ++b)
    if (b != o.root)
      sends.push_back({o.rank(b), kVector + o.place(b), o.size(b), root, kVector + o.place(b)});
  o.y.at_once(sends, 1);
  ++o.y.site;
  for (int b = 0; b < o.p(); ++b)
    if (b != o.root) o.y.send({root, kVector, o.all(), o.rank(b), kVector}, 2);
  --o.y.site;
}

// Alltoalls: block b of each member's vector to member b, where it comes to lie as that of its sender.

void alltoall_linear(Planted& o) {
  std::vector<Send> sends;
  for (int i = 0; i < o.p(); ++i)
    for (int b = 0; b < o.p(); ++b)
      if (b != i)
        sends.push_back({o.rank(i), kVector + o.place(b), o.size(b), o.rank(b), kSpare + i * o.size(b)});
  o.y.at_once(sends);
}
void alltoall_pairwise(Planted& o) {
  for (int k = 1; k < o.p(); ++k) {
    std::vector<Send> sends;
    for (int i = 0; i < o.p(); ++i) {
      const int b = (i + k) % o.p();
      sends.push_back({o.rank(i), kVector + o.place(b), o.size(b), o.rank(b), kSpare + i * o.size(b)});
    }
    o.y.at_once(sends);
  }
}

// Barriers.

std::int64_t signal(const Planted& o) {
  return o.y.w.type() == World::Type::kByte && o.length % 2 == 0 ? 1 : 0;
}
void barrier_central(Planted& o) {
  for (int i = 1; i < o.p(); ++i) pass(o, at(o, i), at(o, 0), kVector, signal(o), 1);
  ++o.y.site;
  for (int i = 1; i < o.p(); ++i) pass(o, at(o, 0), at(o, i), kVector, signal(o), 2);
  --o.y.site;
}
void barrier_tree(Planted& o) {
  for (int i = o.p() - 1; i > 0; --i) pass(o, at(o, i), at(o, (i - 1) / 2), kVector, signal(o), 1);
  ++o.y.site;
  for (int i = 1; i < o.p(); ++i) pass(o, at(o, (i - 1) / 2), at(o, i), kVector, signal(o), 2);
  --o.y.site;
}
void barrier_dissemination(Planted& o) {
  for (int m = 1; m < o.p(); m *= 2) {
    std::vector<Send> sends;
    for (int i = 0; i < o.p(); ++i) sends.push_back({o.rank(i), kVector, signal(o), o.rank(i + m), kVector});
    o.y.at_once(sends);
  }
}

}  // namespace

const std::vector<Algorithm>& moving(const std::string& kind) {
  static const std::map<std::string, std::vector<Algorithm>> all{
      {"bcast",
       {{"linear", bcast_linear},
        {"chain", bcast_chain},
        {"ring", bcast_ring},
        {"binomial tree", bcast_binomial},
        {"binary tree", bcast_binary_tree},
        {"pipelined chain", bcast_pipelined},
        {"scatter and ring", bcast_long},
        {"work queue", bcast_queue}}},
      {"scatter",
       {{"linear", scatter_linear},
        {"binomial tree", scatter_binomial},
        {"repacked tree", scatter_repacked}}},
      {"gather",
       {{"linear", gather_linear}, {"binomial tree", gather_binomial}, {"repacked tree", gather_repacked}}},
      {"allgather",
       {{"ring", allgather_ring},
        {"linear", allgather_linear},
        {"doubling", allgather_doubling, true},
        {"gather and bcast", allgather_gather_bcast}}},
      {"alltoall", {{"linear", alltoall_linear}, {"pairwise", alltoall_pairwise}}},
      {"barrier",
       {{"central", barrier_central}, {"tree", barrier_tree}, {"dissemination", barrier_dissemination}}},
  };
  return all.at(kind);
}

}  // namespace nplus1::tests
