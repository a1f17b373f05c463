#include <algorithm>
#include <numeric>

#include "detector/testing/scenarios.hpp"

namespace nplus1::detector {
namespace {

std::vector<int> first_ranks(int n, int from = 0) {
  std::vector<int> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), from);
  return ranks;
}

/// Two groups of four, each with a broadcast of its own; the leader of each half forwards to two others.
void two_row_broadcasts(World& w) {
  for (int k = 0; k < 3; ++k) {
    for (const int root : {1, 5}) {
      const int base = root - 1;
      w.fill(root, 0, 20);
      w.send(root, 0, 20, base + 2, 40, {});
      w.send(root, 0, 20, base, 40, {});
      w.send(base + 2, 40, 20, base + 3, 80, {});
    }
  }
}

/// The root's vector in pieces to everybody (linearly), then round a ring until all have all.
void scatter_and_ring(World& w) {
  const int p = w.ranks();
  w.fill(3, 0, 10 * p);
  for (int r = 0; r < p; ++r)
    if (r != 3) w.send(3, 10 * r, 10, r, 10 * r, {1});
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

/// Everybody reports in with an empty message, and is released by one.
void central_barriers(World& w) {
  for (int k = 0; k < 5; ++k) {
    for (int r = 1; r < w.ranks(); ++r) w.send(r, 0, 0, 0, 0, {1});
    for (int r = 1; r < w.ranks(); ++r) w.send(0, 0, 0, r, 0, {2});
  }
}

/// Results come in one after the other, four times.
void flat_gathers(World& w) {
  for (int k = 0; k < 4; ++k)
    for (int r = 0; r + 1 < w.ranks(); ++r) {
      w.fill(r, 0, 7);
      w.send(r, 0, 7, w.ranks() - 1, 7 * r, {});
    }
}

/// A chain that adds up: each rank has told (captured) its own part.
void captured_prefix_sums(World& w) {
  for (int r = 0; r < w.ranks(); ++r) {
    w.fill(r, 0, 12);
    w.capture(r, 0, 12, 50);
  }
  for (int r = 0; r + 1 < w.ranks(); ++r) {
    w.send(r, 0, 12, r + 1, 20, {});
    w.add(r + 1, 0, 20, 12);
  }
}

/// Random edges, new payloads each round, both neighbours.
void random_halo(World& w) {
  const int p = w.ranks();
  for (int k = 0; k < 6; ++k) {
    std::vector<World::Message> right;
    std::vector<World::Message> left;
    for (int r = 0; r < p; ++r) {
      w.fill(r, 0, 100);
      right.push_back(w.post(r, 90, 10, (r + 1) % p, {1}));
      left.push_back(w.post(r, 10, 10, (r + p - 1) % p, {2}));
    }
    for (int r = 0; r < p; ++r) {
      w.receive(right[static_cast<std::size_t>((r + p - 1) % p)], 0, {1});
      w.receive(left[static_cast<std::size_t>((r + 1) % p)], 100, {2});
    }
  }
}

/// Each rank's block moves on by one, again and again, but never all the way round (Cannon's algorithm).
void ring_shifts(World& w) {
  const int p = w.ranks();
  for (int r = 0; r < p; ++r) w.fill(r, 0, 16);
  for (int k = 0; k < p / 2; ++k) {
    std::vector<World::Message> messages;
    for (int r = 0; r < p; ++r) messages.push_back(w.post(r, 0, 16, (r + 1) % p, {}));
    for (int r = 0; r < p; ++r) w.receive(messages[static_cast<std::size_t>((r + p - 1) % p)], 0, {});
  }
}

/// All pairs but one.
void alltoall_but_one(World& w) {
  const int p = w.ranks();
  for (int r = 0; r < p; ++r) w.fill(r, 0, 8 * p);
  for (int s = 1; s < p; ++s)
    for (int r = 0; r < p; ++r)
      if (r != 2 || s != 3) w.send(r, 8 * ((r + s) % p), 8, (r + s) % p, 1000 + 8 * r, {});
}

/// Values that depend on both neighbours sweep over a grid of 3 x 4.
void wavefront(World& w) {
  for (int k = 0; k < 4; ++k)
    for (int r = 0; r < 12; ++r) {
      w.fill(r, 0, 6);
      if (r % 4 != 3) w.send(r, 0, 6, r + 1, 10, {1});
      if (r < 8) w.send(r, 0, 6, r + 4, 20, {2});
    }
}

/// A flag (0 or 1, mostly 0) to everybody who may need it: constant, so it proves nothing.
void flags(World& w) {
  for (int k = 0; k < 9; ++k) {
    w.set(0, 0, 1, k == 8 ? 1 : 0);
    for (int r = 1; r < w.ranks(); ++r)
      if (w.random(3) != 0) w.send(0, 0, 1, r, 0, {});
  }
}

}  // namespace

std::vector<Scenario> flat_forms() {
  return {
      {"two groups of four, each with three broadcasts",
       8,
       two_row_broadcasts,
       {{"bcast", first_ranks(8), {1, 5}, 6, 18, "certain"}}},
      {"scatter and ring are one broadcast",
       6,
       scatter_and_ring,
       {{"bcast", first_ranks(6), {3}, 1, 35, "probable"}}},
      {"central barrier", 7, central_barriers, {{"barrier", first_ranks(7), {}, 5, 60, "probable"}}},
      {"flat gather", 6, flat_gathers, {{"gather", first_ranks(6), {5}, 4, 20, "probable"}}},
      {"chain of captured parts is a scan",
       5,
       captured_prefix_sums,
       {{"scan", first_ranks(5), {}, 1, 4, "probable", "sum"}}},
      {"negative: random halo", 8, random_halo, {}},
      {"negative: ring shifts", 8, ring_shifts, {}},
      {"negative: alltoall but one pair", 6, alltoall_but_one, {}},
      {"negative: wavefront", 12, wavefront, {}},
      {"negative: flags", 6, flags, {}},
  };
}

}  // namespace nplus1::detector
