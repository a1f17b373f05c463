// Collectives along the edges of a topology.
#include "tests/random_programs/collectives.hpp"

namespace random_programs {
namespace {

struct Neighbors {
  std::vector<int> sources, destinations;  // world ranks, or -1 for nobody
};

std::vector<int> worlds(const Collective& c, const std::vector<std::vector<int>>& of) {
  std::vector<int> ranks;
  for (const int member : of[static_cast<std::size_t>(c.me())])
    ranks.push_back(member == MPI_PROC_NULL ? -1 : c.comm.members[static_cast<std::size_t>(member)]);
  return ranks;
}

long random_count(const Collective& c, int from, int to) {
  Random r{mix(c.id, static_cast<std::uint64_t>(from * 1000 + to))};
  return r.chance(15) ? 0 : r.below(200 / c.per + 1);
}

/// The number of elements that go from one to the other: of allgathers the same to all, without v to and from all.
long count(const Collective& c, bool v, bool gather, int from, int to) {
  if (!v) return random_count(c, -1, -1);
  if (from < 0 || to < 0) return 3;
  return random_count(c, from, gather ? -1 : to);
}

void set_buffers(Collective& c, const Neighbors& n, bool v, bool gather) {
  std::vector<long> out, in;
  const int me = c.s.rank;
  for (const int to : n.destinations) out.push_back(count(c, v, gather, me, gather ? me : to));
  for (const int from : n.sources) in.push_back(count(c, v, gather, from, me));
  if (gather) out = {count(c, v, gather, me, me)};
  if (out.empty()) out.push_back(0);
  if (in.empty()) in.push_back(0);
  c.send = c.blocks(out, !v || gather);
  c.receive = c.blocks(in, !v);
  for (std::size_t i = 0; i < n.destinations.size(); ++i)
    if (n.destinations[i] >= 0) c.edges.emplace_back(n.destinations[i], c.send.bytes(gather ? 0 : i));
}

void set_checks(Collective& c, const Neighbors& n, bool gather) {
  Collective* p = &c;
  c.fill = [p, n, gather](int round) {
    p->receive.memory.blank();
    p->send.memory.blank();
    if (gather) p->send.put(0, p->key(round, p->s.rank, -1));
    for (std::size_t i = 0; i < n.destinations.size() && !gather; ++i)
      p->send.put(i, p->key(round, p->s.rank, n.destinations[i]));
  };
  c.check = [p, n, gather](int round) {
    Memory expected{p->receive.layout, p->receive.elements};
    for (std::size_t i = 0; i < n.sources.size(); ++i)
      if (n.sources[i] >= 0)
        expected.put(p->receive.layout, p->receive.places.ints[i], p->receive.count(i),
                     p->key(round, n.sources[i], gather ? -1 : p->s.rank));
    p->s.check(p->receive.memory == expected, ("data of " + p->name).c_str());
    p->s.note(p->key(round, 0, 0));
  };
}

}  // namespace

Way neighborhood(const std::shared_ptr<Collective>& c, int kind) {
  static const char* const names[] = {"Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall",
                                      "Neighbor_alltoallv", "Neighbor_alltoallw"};
  const bool gather = kind < 2, v = kind == 1 || kind > 2;
  c->name = names[kind];
  c->layer = gather ? "neighbor_allgather" : "neighbor_alltoall";
  c->root = -1;
  const Neighbors n{worlds(*c, c->comm.sources), worlds(*c, c->comm.destinations)};
  set_buffers(*c, n, v, gather);
  set_checks(*c, n, gather);
  switch (kind) {
    case 0:
      return FORMS(Neighbor_allgather, neighbor_allgather, c->send.data(), c->send.counts.ints[0],
                   c->send.layout.type, c->receive.data(), c->receive.counts.ints[0], c->receive.layout.type);
    case 1:
      return FORMS(Neighbor_allgatherv, neighbor_allgatherv, c->send.data(), c->send.counts.ints[0],
                   c->send.layout.type, c->receive.data(), c->receive.counts, c->receive.places,
                   c->receive.layout.type);
    case 2:
      return FORMS(Neighbor_alltoall, neighbor_alltoall, c->send.data(), c->send.counts.ints[0],
                   c->send.layout.type, c->receive.data(), c->receive.counts.ints[0], c->receive.layout.type);
    case 3:
      return FORMS(Neighbor_alltoallv, neighbor_alltoallv, c->send.data(), c->send.counts, c->send.places,
                   c->send.layout.type, c->receive.data(), c->receive.counts, c->receive.places,
                   c->receive.layout.type);
    default:
      return FORMS(Neighbor_alltoallw, neighbor_alltoallw, c->send.data(), c->send.counts,
                   c->send.byte_places.large.data(), c->send.types.data(), c->receive.data(),
                   c->receive.counts, c->receive.byte_places.large.data(), c->receive.types.data());
  }
}

}  // namespace random_programs
