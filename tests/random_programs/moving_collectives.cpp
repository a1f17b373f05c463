// Collectives that move blocks.
#include <algorithm>
#include <numeric>

#include "tests/random_programs/collectives.hpp"

namespace random_programs {
namespace {

/// The same on all ranks without taking from the script's random numbers.
long random_count(const Collective& c, int from, int to) {
  Random r{mix(c.id, static_cast<std::uint64_t>(from * 1000 + to))};
  const Random all{c.id};
  Random shared = all;
  const int most = shared.of({3, 20, 20, 100, 100, 1500, 9000}) / c.per + 1;
  return r.chance(15) ? 0 : r.below(most);
}

constexpr long kPipelined = 32768;  // MPIR_CVAR_ALLGATHERV_PIPELINE_MSG_SIZE

Random decisions(const Collective& c) {
  return Random{mix(c.id, 5)};
}

std::vector<long> counts_from(const Collective& c, const std::vector<int>& from) {
  std::vector<long> counts;
  for (const int world : from) counts.push_back(random_count(c, world, -1));
  return counts;
}

std::vector<long> same_count(const Collective& c, std::size_t blocks) {
  return std::vector<long>(blocks, random_count(c, -1, -1));
}

/// What comes is what the others have sent, and nothing else has changed.
void expect(Collective& c, int round, const std::vector<int>& from, bool to_me) {
  Memory expected{c.receive.layout, c.receive.elements};
  for (std::size_t i = 0; i < from.size(); ++i)
    expected.put(c.receive.layout, c.receive.places.ints[i], c.receive.count(i),
                 c.key(round, from[i], to_me ? c.s.rank : -1));
  c.s.check(c.receive.memory == expected, ("data of " + c.name).c_str());
  c.s.note(c.key(round, 0, 0));
}

void put_all(Collective& c, int round, const std::vector<int>& to, bool to_each) {
  c.send.memory.blank();
  for (std::size_t i = 0; i < to.size(); ++i) c.send.put(i, c.key(round, c.s.rank, to_each ? to[i] : -1));
}

Way barrier(const std::shared_ptr<Collective>& c) {
  c->name = "Barrier";
  c->layer = "barrier";
  c->root = -1;
  c->large = false;
  c->fan_out = true;
  c->fill = c->check = [](int) {};
  return [](Form form, bool, MPI_Comm comm, MPI_Request* request) {
    if (form == Form::blocking) MPI_Barrier(comm);
    if (form == Form::nonblocking) MPI_Ibarrier(comm, request);
    if (form == Form::persistent) MPI_Barrier_init(comm, MPI_INFO_NULL, request);
  };
}

Way bcast(const std::shared_ptr<Collective>& c) {
  c->name = "Bcast";
  c->layer = "bcast";
  // MPICH's MPI_Ibcast gives wrong data to the other group from any other root.
  if (c->comm.inter()) c->root = 0;
  c->receive = c->blocks(same_count(*c, 1), true);
  Collective* p = c.get();
  c->fill = [p](int round) {
    p->receive.memory.blank();
    if (p->is_root()) p->receive.put(0, p->key(round, p->root_world(), -1));
  };
  c->check = [p](int round) {
    if (!p->beside()) expect(*p, round, {p->root_world()}, false);
  };
  c->fan_out = true;
  c->gets = c->receive.all_bytes();
  return FORMS(Bcast, bcast, c->receive.data(), c->receive.counts.ints[0], c->receive.layout.type,
               c->root_argument());
}

/// Arguments that a call has, but that do not matter at this rank.
struct Other {
  void* address = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

Way gather(const std::shared_ptr<Collective>& c, bool v) {
  c->name = v ? "Gatherv" : "Gather";
  c->layer = v ? "gatherv" : "gather";
  Collective* p = c.get();
  const bool inter = c->comm.inter();
  const std::vector<int> from = inter ? c->comm.peers_of(c->root_world()) : c->comm.members;
  const auto counts = v ? counts_from(*c, from) : same_count(*c, from.size());
  if (c->is_root()) c->receive = c->blocks(counts, !v);
  c->in_place = c->is_root() && !inter && c->form != Form::persistent && decisions(*c).chance(30);
  const int place = index_in(from, c->s.rank);
  if (place >= 0) c->send = c->blocks({counts[static_cast<std::size_t>(place)]}, true);
  c->contributes = c->send.all_bytes();
  c->fan_in = true;
  c->fill = [p, place](int round) {
    const auto key = p->key(round, p->s.rank, -1);
    if (place >= 0) p->send.put(0, key);
    if (p->is_root()) p->receive.memory.blank();
    if (p->in_place) p->receive.put(static_cast<std::size_t>(place), key);
  };
  c->check = [p, from](int round) {
    if (p->is_root()) expect(*p, round, from, false);
  };
  if (c->send.counts.ints.empty()) c->send.counts.add(0);
  if (c->send.layout.type == MPI_DATATYPE_NULL) c->send.layout.type = MPI_BYTE;
  if (c->receive.counts.ints.empty()) c->receive.counts.add(0);
  if (c->receive.layout.type == MPI_DATATYPE_NULL) c->receive.layout.type = MPI_BYTE;
  if (v)
    return FORMS(Gatherv, gatherv, c->send_buffer(), c->send.counts.ints[0], c->send.layout.type,
                 c->receive.data(), c->receive.counts, c->receive.places, c->receive.layout.type,
                 c->root_argument());
  return FORMS(Gather, gather, c->send_buffer(), c->send.counts.ints[0], c->send.layout.type,
               c->receive.data(), c->receive.counts.ints[0], c->receive.layout.type, c->root_argument());
}

Way scatter(const std::shared_ptr<Collective>& c, bool v) {
  c->name = v ? "Scatterv" : "Scatter";
  c->layer = v ? "scatterv" : "scatter";
  Collective* p = c.get();
  const bool inter = c->comm.inter();
  const std::vector<int> to = inter ? c->comm.peers_of(c->root_world()) : c->comm.members;
  const auto counts = v ? counts_from(*c, to) : same_count(*c, to.size());
  // MPICH 4.0.2 hands on the pieces by the type of one who receives.
  c->basic = inter && !v;
  if (c->is_root()) c->send = c->blocks(counts, !v);
  c->in_place = c->is_root() && !inter && c->form != Form::persistent && decisions(*c).chance(30);
  const int place = index_in(to, c->s.rank);
  if (place >= 0) c->receive = c->blocks({counts[static_cast<std::size_t>(place)]}, true);
  c->gets = c->receive.all_bytes();
  c->fan_out = true;
  c->fill = [p, to](int round) {
    if (p->is_root()) put_all(*p, round, to, true);
    if (!p->beside()) p->receive.memory.blank();
  };
  c->check = [p, place](int round) {
    if (place >= 0 && !p->in_place) expect(*p, round, {p->root_world()}, true);
  };
  if (c->send.counts.ints.empty()) c->send.counts.add(0);
  if (c->send.layout.type == MPI_DATATYPE_NULL) c->send.layout.type = MPI_BYTE;
  if (c->receive.counts.ints.empty()) c->receive.counts.add(0);
  if (c->receive.layout.type == MPI_DATATYPE_NULL) c->receive.layout.type = MPI_BYTE;
  const auto received = [](Collective& x) -> void* { return x.in_place ? MPI_IN_PLACE : x.receive.data(); };
  (void)received;
  if (v)
    return FORMS(Scatterv, scatterv, c->send.data(), c->send.counts, c->send.places, c->send.layout.type,
                 c->in_place ? MPI_IN_PLACE : c->receive.data(), c->receive.counts.ints[0],
                 c->receive.layout.type, c->root_argument());
  return FORMS(Scatter, scatter, c->send.data(), c->send.counts.ints[0], c->send.layout.type,
               c->in_place ? MPI_IN_PLACE : c->receive.data(), c->receive.counts.ints[0],
               c->receive.layout.type, c->root_argument());
}

Way allgather(const std::shared_ptr<Collective>& c, bool v) {
  c->name = v ? "Allgatherv" : "Allgather";
  c->layer = v ? "allgatherv" : "allgather";
  c->root = -1;
  Collective* p = c.get();
  const auto from = c->peers();
  const auto counts = v ? counts_from(*c, from) : same_count(*c, from.size());
  // MPICH 4.0.2 sends long vectors in pieces whose lengths depend on the extent of the type that each rank names.
  c->basic = v && std::accumulate(counts.begin(), counts.end(), 0l) * c->per * c->base.size >= kPipelined;
  // MPICH 4.0.2 alone in a group receives at displacement 0, whatever was asked for.
  c->receive = c->blocks(counts, !v || from.size() == 1);
  c->in_place = !c->comm.inter() && c->form != Form::persistent && decisions(*c).chance(30);
  c->send = c->blocks({v ? random_count(*c, c->s.rank, -1) : counts[0]}, true);
  c->contributes = c->send.all_bytes();
  c->gets = c->receive.all_bytes();
  c->fan_in = c->fan_out = true;
  c->fill = [p](int round) {
    const auto key = p->key(round, p->s.rank, -1);
    p->receive.memory.blank();
    p->send.put(0, key);
    if (p->in_place) p->receive.put(static_cast<std::size_t>(p->me()), key);
  };
  c->check = [p, from](int round) { expect(*p, round, from, false); };
  if (v)
    return FORMS(Allgatherv, allgatherv, c->send_buffer(), c->send.counts.ints[0], c->send.layout.type,
                 c->receive.data(), c->receive.counts, c->receive.places, c->receive.layout.type);
  return FORMS(Allgather, allgather, c->send_buffer(), c->send.counts.ints[0], c->send.layout.type,
               c->receive.data(), c->receive.counts.ints[0], c->receive.layout.type);
}

std::vector<long> counts_between(const Collective& c, bool v, bool outgoing, bool symmetric) {
  std::vector<long> counts;
  for (const int other : c.peers()) {
    int from = outgoing ? c.s.rank : other, to = outgoing ? other : c.s.rank;
    if (symmetric && from > to) std::swap(from, to);
    counts.push_back(v ? random_count(c, from, to) : random_count(c, -1, -1));
  }
  return counts;
}

/// In place both directions have the same counts.
Way alltoall(const std::shared_ptr<Collective>& c, int form) {
  const bool v = form > 0;
  c->name = form == 0 ? "Alltoall" : form == 1 ? "Alltoallv" : "Alltoallw";
  c->layer = v ? "alltoallv" : "alltoall";
  c->root = -1;
  Collective* p = c.get();
  const auto peers = c->peers();
  // Only the blocking one works in place in every MPICH.
  c->in_place = !c->comm.inter() && c->form != Form::persistent && decisions(*c).chance(25);
  c->receive = c->blocks(counts_between(*c, v, false, c->in_place), !v);
  c->send = c->blocks(counts_between(*c, v, true, c->in_place), !v);
  c->contributes = c->send.all_bytes();
  c->gets = c->receive.all_bytes();
  c->fan_in = c->fan_out = true;
  c->fill = [p, peers](int round) {
    p->receive.memory.blank();
    put_all(*p, round, peers, true);
    if (!p->in_place) return;
    for (std::size_t i = 0; i < peers.size(); ++i) p->receive.put(i, p->key(round, p->s.rank, peers[i]));
  };
  c->check = [p, peers](int round) { expect(*p, round, peers, true); };
  if (form == 1)
    return FORMS(Alltoallv, alltoallv, c->send_buffer(), c->send.counts, c->send.places, c->send.layout.type,
                 c->receive.data(), c->receive.counts, c->receive.places, c->receive.layout.type);
  if (form == 2)
    return FORMS(Alltoallw, alltoallw, c->send_buffer(), c->send.counts, c->send.byte_places,
                 c->send.types.data(), c->receive.data(), c->receive.counts, c->receive.byte_places,
                 c->receive.types.data());
  return FORMS(Alltoall, alltoall, c->send_buffer(), c->send.counts.ints[0], c->send.layout.type,
               c->receive.data(), c->receive.counts.ints[0], c->receive.layout.type);
}

}  // namespace

Way moving_collective(const std::shared_ptr<Collective>& c, int kind) {
  switch (kind) {
    case 0:
      return barrier(c);
    case 1:
      return bcast(c);
    case 2:
    case 3:
      return gather(c, kind == 3);
    case 4:
    case 5:
      return scatter(c, kind == 5);
    case 6:
    case 7:
      return allgather(c, kind == 7);
    case 8:
      return alltoall(c, 0);
    default:
      return alltoall(c, 1 + decisions(*c).below(2));
  }
}

}  // namespace random_programs
