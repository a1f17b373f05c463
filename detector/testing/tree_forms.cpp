#include <algorithm>

#include "detector/testing/scenarios.hpp"

namespace nplus1::detector {
namespace {

/// Calls `visit(parent, child, size of the child's part of the tree)`, from the root down.
template <class Visit>
void binomial_tree(int p, Visit visit) {
  int top = 1;
  while (top < p) top *= 2;
  for (int m = top / 2; m > 0; m /= 2)
    for (int r = 0; r + m < p; r += 2 * m) visit(r, r + m, std::min(m, p - r - m));
}

/// Halves of what is left go down a tree; the rest is kept.
void binomial_scatters(World& w) {
  for (int k = 0; k < 2; ++k) {
    w.fill(0, 0, 5 * w.ranks());
    binomial_tree(w.ranks(), [&](int parent, int child, int size) {
      w.send(parent, 5 * child, 5 * size, child, 5 * child, {});
    });
  }
}

/// Sums go up a tree to rank 0; whether ranks tell of their own parts is the difference.
void tree_sums(World& w, bool captured) {
  const int p = w.ranks();
  for (int r = 0; r < p; ++r) {
    w.fill(r, 0, 9);
    if (captured) w.capture(r, 0, 9, 60);
  }
  for (int m = 1; m < p; m *= 2)
    for (int r = 0; r + m < p; r += 2 * m) {
      w.send(r + m, 0, 9, r, 20, {});
      w.add(r, 0, 20, 9);
    }
}

/// Exclusive or by recursive doubling.
void doubling_bxor(World& w) {
  for (int r = 0; r < w.ranks(); ++r) w.fill(r, 0, 33);
  for (int m = 1; m < w.ranks(); m *= 2) {
    std::vector<World::Message> under_way;
    for (int r = 0; r < w.ranks(); ++r) under_way.push_back(w.post(r, 0, 33, r ^ m, {}));
    for (int r = 0; r < w.ranks(); ++r) {
      w.receive(under_way[static_cast<std::size_t>(r ^ m)], 50, {});
      for (std::size_t i = 0; i < 33; ++i) w.words(r, 0, 33)[i] ^= w.words(r, 50, 33)[i];
    }
  }
}

/// Gather to rank 0, which sends all of it to everybody.
void gather_and_broadcast(World& w) {
  const int p = w.ranks();
  for (int r = 0; r < p; ++r) w.fill(r, 6 * r, 6);
  for (int r = 1; r < p; ++r) w.send(r, 6 * r, 6, 0, 6 * r, {1, 1});
  for (int r = 1; r < p; ++r) w.send(0, 0, 6 * p, r, 0, {1, 2});
}

/// Blocks double: each rank passes on all that it has to r xor m.
void doubling_allgather(World& w) {
  const int p = w.ranks();
  for (int r = 0; r < p; ++r) w.fill(r, 4 * r, 4);
  for (int m = 1; m < p; m *= 2) {
    std::vector<World::Message> under_way;
    for (int r = 0; r < p; ++r) under_way.push_back(w.post(r, 4 * (r / m * m), 4 * m, r ^ m, {}));
    for (int r = 0; r < p; ++r)
      w.receive(under_way[static_cast<std::size_t>(r ^ m)], 4 * ((r ^ m) / m * m), {});
  }
}

/// A long broadcast with roots that change: pieces down a line, then round a ring, as in HPL.
void rotating_long_broadcasts(World& w) {
  const int p = w.ranks();
  for (int k = 0; k < 2 * p; ++k) {
    const int root = k % p;
    w.fill(root, 0, 10 * p);
    for (int r = 0; r < p; ++r)
      if (r != root) w.send(root, 10 * r, 10, r, 10 * r, {1});
    for (int step = 0; step + 1 < p; ++step) {
      std::vector<World::Message> under_way;
      for (int r = 0; r < p; ++r)
        under_way.push_back(w.post(r, 10 * ((r - step + p) % p), 10, (r + 1) % p, {2}));
      for (int r = 0; r < p; ++r) {
        const int from = (r + p - 1) % p;
        w.receive(under_way[static_cast<std::size_t>(from)], 10 * ((from - step + p) % p), {2});
      }
    }
  }
}

/// Every second rank has a broadcast of its own.
void strided_broadcasts(World& w) {
  for (int k = 0; k < 4; ++k) {
    w.fill(1, 0, 25);
    for (int r = 3; r < w.ranks(); r += 2) w.send(1, 0, 25, r, 0, {});
  }
}

/// A dynamic pool: each worker has another task each time, and its answer comes back.
void task_pool(World& w) {
  for (int k = 0; k < 30; ++k) {
    const int worker = 1 + static_cast<int>(w.random(static_cast<std::uint64_t>(w.ranks() - 1)));
    w.fill(0, 0, 4);
    w.send(0, 0, 4, worker, 0, {1, 1});
    w.fill(worker, 0, 4);
    w.send(worker, 0, 4, 0, 100, {2, 2});
  }
}

/// A boundary that never changes goes to both neighbours, in every step.
void constant_boundaries(World& w) {
  const int p = w.ranks();
  for (int r = 0; r < p; ++r) w.set(r, 0, 20, 7);
  for (int k = 0; k < 4; ++k)
    for (int r = 0; r < p; ++r) {
      w.send(r, 0, 10, (r + 1) % p, 30, {});
      w.send(r, 0, 10, (r + p - 1) % p, 50, {});
    }
}

/// The same boundary goes to both neighbours: many small spreads, no broadcast.
void same_to_both_neighbours(World& w) {
  const int p = w.ranks();
  for (int k = 0; k < 4; ++k)
    for (int r = 0; r < p; ++r) {
      w.fill(r, 0, 10);
      w.send(r, 0, 10, (r + 1) % p, 30, {});
      w.send(r, 0, 10, (r + p - 1) % p, 50, {});
    }
}

/// Empty messages to the right, as often as there are ranks: everybody hears of everybody, nobody meant it.
void empty_shifts(World& w) {
  const int p = w.ranks();
  for (int k = 0; k < 2 * p; ++k) {
    std::vector<World::Message> under_way;
    for (int r = 0; r < p; ++r) under_way.push_back(w.post(r, 0, 0, (r + 1) % p, {}));
    for (int r = 0; r < p; ++r) w.receive(under_way[static_cast<std::size_t>((r + p - 1) % p)], 0, {});
  }
}

/// Pairs exchange for ever.
void pairs(World& w) {
  for (int k = 0; k < 10; ++k)
    for (int r = 0; r + 1 < w.ranks(); r += 2) {
      w.fill(r, 0, 8);
      w.send(r, 0, 8, r + 1, 0, {});
      w.fill(r + 1, 0, 8);
      w.send(r + 1, 0, 8, r, 0, {});
    }
}

/// Two payloads with the same CRC-32: they differ by a multiple of its generator polynomial. Only the 61-bit hash tells.
void colliding_payloads(World& w) {
  constexpr std::int64_t kGenerator =
      1 | (std::int64_t{0xEDB88320} << 1);  // reflected, as zlib's, with its first bit
  w.fill(0, 0, 8);
  for (int r = 1; r < 3; ++r) w.send(0, 0, 8, r, 0, {});
  w.words(0, 3, 1)[0] ^= kGenerator;
  for (int r = 3; r < w.ranks(); ++r) w.send(0, 0, 8, r, 0, {});
}

/// 0 + 0 = 0: a reduction of zeros proves nothing.
void sums_of_zeros(World& w) {
  for (int m = 1; m < w.ranks(); m *= 2)
    for (int r = 0; r < w.ranks(); ++r) w.send(r, 0, 9, r ^ m, 20, {});
}

/// Messages between random ranks.
void random_messages(World& w) {
  for (int k = 0; k < 200; ++k) {
    const auto p = static_cast<std::uint64_t>(w.ranks());
    const int from = static_cast<int>(w.random(p));
    const int to = (from + 1 + static_cast<int>(w.random(p - 1))) % w.ranks();
    w.fill(from, 0, 6);
    w.send(from, 0, 6, to, 100, {});
  }
}

}  // namespace

std::vector<Scenario> tree_forms() {
  return {
      {"binomial scatter", 8, binomial_scatters, {{"scatter", world(8), {0}, 2, 14, "probable"}}},
      {"tree of sums, own parts captured",
       8,
       [](World& w) { tree_sums(w, true); },
       {{"reduce", world(8), {0}, 1, 7, "probable", "sum"}}},
      {"negative: tree of sums, own parts unseen", 8, [](World& w) { tree_sums(w, false); }, {}},
      {"bxor by recursive doubling",
       8,
       doubling_bxor,
       {{"allreduce", world(8), {}, 1, 24, "certain", "bxor"}}},
      {"gather and broadcast", 5, gather_and_broadcast, {{"allgather", world(5), {}, 1, 8, "probable"}}},
      {"recursive doubling of blocks",
       8,
       doubling_allgather,
       {{"allgather", world(8), {}, 1, 24, "probable"}}},
      {"long broadcasts with rotating roots",
       4,
       rotating_long_broadcasts,
       {{"bcast", world(4), {0, 1, 2, 3}, 8, 120, "probable"}}},
      {"every second rank", 8, strided_broadcasts, {{"bcast", {1, 3, 5, 7}, {1}, 4, 12, "certain"}}},
      {"two payloads with one CRC-32",
       6,
       colliding_payloads,
       {{"bcast", {0, 1, 2}, {0}, 1, 2, "certain"}, {"bcast", {0, 3, 4, 5}, {0}, 1, 3, "certain"}}},
      {"negative: task pool", 6, task_pool, {}},
      {"negative: constant boundaries", 6, constant_boundaries, {}},
      {"negative: the same to both neighbours", 6, same_to_both_neighbours, {}},
      {"negative: empty shifts", 5, empty_shifts, {}},
      {"negative: pairs", 8, pairs, {}},
      {"negative: sums of zeros", 8, sums_of_zeros, {}},
      {"negative: random messages", 7, random_messages, {}},
  };
}

}  // namespace nplus1::detector
