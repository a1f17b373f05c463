// Written and committed before the detector was run on them; docs/detector_scenarios.md has that first score.
#include <algorithm>

#include "detector/testing/scenarios.hpp"

namespace nplus1::detector {
namespace {

/// All ranks send, then all receive: `to(r)` gets what lies at `at(r)`, and puts it to `into(to(r))`.
template <class To, class At, class Into>
void exchange(World& w, std::int64_t words, World::Call call, To to, At at, Into into) {
  std::vector<World::Message> under_way;
  for (int r = 0; r < w.ranks(); ++r)
    if (to(r) >= 0) under_way.push_back(w.post(r, at(r), words, to(r), call));
  for (const World::Message& m : under_way) w.receive(m, into(m.destination), call);
}

/// The vector is halved in each round: one half goes to the partner, the other is added to. Own blocks
/// captured.
void halving_reduce_scatter(World& w) {
  const int p = w.ranks();
  constexpr std::int64_t kBlock = 6;
  for (int r = 0; r < p; ++r) {
    w.fill(r, 0, kBlock * p);
    for (int b = 0; b < p; ++b) w.capture(r, kBlock * b, kBlock, 70);
  }
  for (int m = p / 2; m > 0; m /= 2) {
    const auto begin_of_half = [&](int r) { return kBlock * (r / m * m); };  // the half that r keeps
    exchange(
        w, kBlock * m, {}, [&](int r) { return r ^ m; }, [&](int r) { return begin_of_half(r ^ m); },
        [&](int) { return 1000; });
    for (int r = 0; r < p; ++r) w.add(r, begin_of_half(r), 1000, kBlock * m);
  }
}

/// Values move up by one rank, then the sums of twice as many in each round.
void shifted_doubling_exscan(World& w) {
  const int p = w.ranks();
  for (int r = 0; r < p; ++r) w.fill(r, 0, 11);
  exchange(
      w, 11, {}, [&](int r) { return r + 1 < p ? r + 1 : -1; }, [](int) { return 0; },
      [](int) { return 100; });
  for (int m = 1; m < p - 1; m *= 2) {
    exchange(
        w, 11, {}, [&](int r) { return r > 0 && r + m < p ? r + m : -1; }, [](int) { return 100; },
        [](int) { return 200; });
    for (int r = 1 + m; r < p; ++r) w.add(r, 100, 200, 11);
  }
}

/// Bruck's algorithm: in each round the blocks whose number has the bit go 2^k ranks on, packed.
void bruck_alltoall(World& w) {
  const int p = w.ranks();
  constexpr std::int64_t kBlock = 1;
  for (int r = 0; r < p; ++r) w.fill(r, 0, kBlock * p);  // the block for rank r + i at i
  for (int m = 1; m < p; m *= 2) {
    std::int64_t packed = 0;
    for (int i = 0; i < p; ++i)
      if ((i & m) != 0) {
        for (int r = 0; r < p; ++r) w.copy(r, 500 + packed, kBlock * i, kBlock);
        packed += kBlock;
      }
    exchange(
        w, packed, {}, [&](int r) { return (r + m) % p; }, [](int) { return 500; }, [](int) { return 700; });
    std::int64_t at = 0;
    for (int i = 0; i < p; ++i)
      if ((i & m) != 0) {
        for (int r = 0; r < p; ++r) w.copy(r, kBlock * i, 700 + at, kBlock);
        at += kBlock;
      }
  }
}

/// The larger of two in each round; every rank its own value.
void doubling_extremum(World& w, std::int64_t words, bool largest) {
  for (int k = 0; k < 3; ++k) {
    for (int r = 0; r < w.ranks(); ++r) w.fill(r, 0, words);
    for (int m = 1; m < w.ranks(); m *= 2) {
      exchange(
          w, words, {}, [&](int r) { return r ^ m; }, [](int) { return 0; }, [](int) { return 90; });
      for (int r = 0; r < w.ranks(); ++r)
        for (std::int64_t i = 0; i < words; ++i) {
          std::int64_t& own = w.words(r, i, 1)[0];
          const std::int64_t other = w.words(r, 90 + i, 1)[0];
          own = largest ? std::max(own, other) : std::min(own, other);
        }
    }
  }
}

/// Sums go to rank 0 up a tree, and the result down the same tree.
void reduce_and_broadcast(World& w) {
  const int p = w.ranks();
  for (int k = 0; k < 2; ++k) {
    for (int r = 0; r < p; ++r) {
      w.fill(r, 0, 9);
      w.capture(r, 0, 9, 60);
    }
    int top = 1;
    for (; top < p; top *= 2)
      for (int r = 0; r + top < p; r += 2 * top) {
        w.send(r + top, 0, 9, r, 20, {1, 1});
        w.add(r, 0, 20, 9);
      }
    for (int m = top / 2; m > 0; m /= 2)
      for (int r = 0; r + m < p; r += 2 * m) w.send(r, 0, 9, r + m, 0, {2, 2});
  }
}

/// Parts of different lengths.
void flat_scattervs(World& w) {
  const int p = w.ranks();
  for (int k = 0; k < 2; ++k) {
    w.fill(1, 0, 40 * p);
    for (int r = 0; r < p; ++r)
      if (r != 1) w.send(1, 40 * r, 10 + r, r, 0, {});
  }
}

/// HPL's modified ring: the next rank gets the panel first and keeps it, the one after it starts a ring.
void modified_rings(World& w) {
  const int p = w.ranks();
  for (int k = 0; k < 2 * p; ++k) {
    const int root = k % p;
    const auto at = [&](int i) { return (root + i) % p; };
    w.fill(root, 0, 30);
    w.send(root, 0, 30, at(1), 0, {1});
    w.send(root, 0, 30, at(2), 0, {1});
    for (int i = 2; i + 1 < p; ++i) w.send(at(i), 0, 30, at(i + 1), 0, {2});
  }
}

/// HPL's long broadcast, modified: all of it to the next rank; to the others in pieces, which go round a
/// ring.
void modified_long_broadcasts(World& w) {
  const int p = w.ranks();
  const int q = p - 1;  // all but the next rank
  for (int k = 0; k < 2 * p; ++k) {
    const int root = k % p;
    const auto at = [&](int i) { return i == 0 ? root : (root + i + 1) % p; };
    w.fill(root, 0, 10 * q);
    w.send(root, 0, 10 * q, (root + 1) % p, 0, {1});
    for (int i = 1; i < q; ++i) w.send(root, 10 * i, 10, at(i), 10 * i, {2});
    for (int step = 0; step + 1 < q; ++step) {
      std::vector<World::Message> under_way;
      for (int i = 0; i < q; ++i)
        under_way.push_back(w.post(at(i), 10 * ((i - step + q) % q), 10, at((i + 1) % q), {3}));
      for (int i = 0; i < q; ++i) {
        const int from = (i + q - 1) % q;
        w.receive(under_way[static_cast<std::size_t>(from)], 10 * ((from - step + q) % q), {3});
      }
    }
  }
}

/// Ring of blocks of different lengths.
void ring_allgatherv(World& w) {
  const int p = w.ranks();
  const auto length = [](int r) { return 3 + r; };
  for (int r = 0; r < p; ++r) w.fill(r, 20 * r, length(r));
  for (int step = 0; step + 1 < p; ++step) {
    std::vector<World::Message> under_way;
    for (int r = 0; r < p; ++r) {
      const int block = (r - step + p) % p;
      under_way.push_back(w.post(r, 20 * block, length(block), (r + 1) % p, {}));
    }
    for (int r = 0; r < p; ++r) {
      const int from = (r + p - 1) % p;
      w.receive(under_way[static_cast<std::size_t>(from)], 20 * ((from - step + p) % p), {});
    }
  }
}

/// The last rank is not served.
void broadcast_without_the_last(World& w) {
  for (int k = 0; k < 5; ++k) {
    w.fill(2, 0, 17);
    for (int r = 0; r + 1 < w.ranks(); ++r)
      if (r != 2) w.send(2, 0, 17, r, 0, {});
  }
}

/// A task for each worker in turn, and its answer at once: as many for each as for the others.
void equal_tasks(World& w) {
  for (int k = 0; k < 4; ++k)
    for (int worker = 1; worker < w.ranks(); ++worker) {
      w.fill(0, 0, 8);
      w.send(0, 0, 8, worker, 0, {1, 1});
      w.fill(worker, 0, 8);
      w.send(worker, 0, 8, 0, 100, {2, 2});
    }
}

/// Four neighbours on a torus of 3 x 4.
void torus_halo(World& w) {
  const auto neighbour = [](int r, int dx, int dy) {
    return (r / 4 + dy + 3) % 3 * 4 + (r % 4 + dx + 4) % 4;
  };
  for (int k = 0; k < 3; ++k)
    for (int side = 0; side < 4; ++side) {
      const int dx = side == 0 ? 1 : side == 1 ? -1 : 0;
      const int dy = side == 2 ? 1 : side == 3 ? -1 : 0;
      for (int r = 0; r < w.ranks(); ++r) w.fill(r, 16 * side, 16);
      exchange(
          w, 16, {side + 1, side}, [&](int r) { return neighbour(r, dx, dy); },
          [&](int) { return 16 * side; }, [&](int) { return 200 + 16 * side; });
    }
}

/// Neighbours keep the smaller and the larger of their numbers.
void odd_even_sort(World& w) {
  const int p = w.ranks();
  for (int r = 0; r < p; ++r) w.fill(r, 0, 1);
  for (int k = 0; k < p; ++k) {
    const auto partner = [&](int r) {
      const int other = (r + k) % 2 == 0 ? r + 1 : r - 1;
      return other >= 0 && other < p ? other : -1;
    };
    exchange(
        w, 1, {}, partner, [](int) { return 0; }, [](int) { return 5; });
    for (int r = 0; r < p; ++r) {
      if (partner(r) < 0) continue;
      std::int64_t& own = w.words(r, 0, 1)[0];
      const std::int64_t other = w.words(r, 5, 1)[0];
      own = partner(r) > r ? std::min(own, other) : std::max(own, other);
    }
  }
}

/// Items run through stages, each of which makes something else of them.
void pipeline(World& w) {
  for (int item = 0; item < 6; ++item)
    for (int r = 0; r + 1 < w.ranks(); ++r) {
      w.fill(r, 0, 14);
      w.send(r, 0, 14, r + 1, 0, {});
    }
}

/// Blocks go all the way round a ring, changed at each rank.
void systolic_ring(World& w) {
  const int p = w.ranks();
  for (int r = 0; r < p; ++r) w.fill(r, 0, 10);
  for (int step = 0; step + 1 < p; ++step) {
    exchange(
        w, 10, {}, [&](int r) { return (r + 1) % p; }, [](int) { return 0; }, [](int) { return 0; });
    for (int r = 0; r < p; ++r)
      for (std::int64_t& v : w.words(r, 0, 10)) v = v * 3 + r;
  }
}

/// A sum by dissemination is wrong where the number of ranks is no power of two: some count twice.
void wrong_dissemination_sum(World& w) {
  const int p = w.ranks();
  for (int r = 0; r < p; ++r) w.fill(r, 0, 12);
  for (int m = 1; m < p; m *= 2) {
    exchange(
        w, 12, {}, [&](int r) { return (r + m) % p; }, [](int) { return 0; }, [](int) { return 50; });
    for (int r = 0; r < p; ++r) w.add(r, 0, 50, 12);
  }
}

/// The same to whoever has subscribed, which are others each time.
void changing_subscribers(World& w) {
  for (int k = 0; k < 12; ++k) {
    const int from = static_cast<int>(w.random(static_cast<std::uint64_t>(w.ranks())));
    w.fill(from, 0, 9);
    for (int r = 0; r < w.ranks(); ++r)
      if (r != from && w.random(2) == 0) w.send(from, 0, 9, r, 40, {});
  }
}

}  // namespace

std::vector<Scenario> composite_forms() {
  return {
      {"recursive halving, own blocks captured",
       8,
       halving_reduce_scatter,
       {{"reduce_scatter_block", world(8), {}, 1, 24, "probable", "sum"}}},
      {"shifted doubling of sums",
       7,
       shifted_doubling_exscan,
       {{"exscan", world(7), {}, 1, 17, "probable", "sum"}}},
      {"Bruck's alltoall of single numbers",
       8,
       bruck_alltoall,
       {{"alltoall", world(8), {}, 1, 24, "possible"}}},
      {"largest number by recursive doubling",
       8,
       [](World& w) { doubling_extremum(w, 1, true); },
       {{"allreduce", world(8), {}, 3, 72, "probable", "max"}}},
      {"smallest elements by recursive doubling",
       8,
       [](World& w) { doubling_extremum(w, 33, false); },
       {{"allreduce", world(8), {}, 3, 72, "probable", "min"}}},
      {"reduce and broadcast up and down a tree",
       6,
       reduce_and_broadcast,
       {{"allreduce", world(6), {}, 2, 20, "probable", "sum"}}},
      {"flat scatterv", 6, flat_scattervs, {{"scatterv", world(6), {1}, 2, 10, "probable"}}},
      {"modified rings with rotating roots",
       6,
       modified_rings,
       {{"bcast", world(6), world(6), 12, 60, "certain"}}},
      {"modified long broadcasts with rotating roots",
       5,
       modified_long_broadcasts,
       {{"bcast", world(5), world(5), 10, 160, "probable"}}},
      {"ring of unequal blocks", 5, ring_allgatherv, {{"allgatherv", world(5), {}, 1, 20, "certain"}}},
      {"broadcast that leaves out the last rank",
       7,
       broadcast_without_the_last,
       {{"bcast", world(6), {2}, 5, 25, "certain"}}},
      {"negative: as many tasks for each worker", 6, equal_tasks, {}},
      {"negative: halo on a torus", 12, torus_halo, {}},
      {"negative: odd-even sort", 8, odd_even_sort, {}},
      {"negative: pipeline", 6, pipeline, {}},
      {"negative: systolic ring", 6, systolic_ring, {}},
      {"negative: sum that counts twice", 6, wrong_dissemination_sum, {}},
      {"negative: changing subscribers", 8, changing_subscribers, {}},
  };
}

}  // namespace nplus1::detector
