#include "tests/random_programs/collectives.hpp"

#include <algorithm>
#include <numeric>

namespace random_programs {

long Blocks::all_bytes() const {
  return std::accumulate(counts.ints.begin(), counts.ints.end(), 0l) * layout.size();
}

Blocks Collective::blocks(const std::vector<long>& given, bool dense) {
  Blocks b;
  const bool derived = per > 1 && !basic && s.own.chance(60);
  b.layout = derived ? random_layout(s.own, base, per) : plain(base);
  const long factor = derived ? 1 : per;
  std::vector<std::size_t> order(given.size());
  std::iota(order.begin(), order.end(), 0);
  if (!dense && s.own.chance(40)) s.own.shuffle(order);
  std::vector<long> places(given.size());
  for (const std::size_t i : order) {
    if (!dense) b.elements += s.own.below(3);
    places[i] = b.elements;
    b.elements += given[i] * factor;
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    b.counts.add(given[i] * factor);
    b.places.add(places[i]);
    b.byte_places.add(places[i] * b.layout.extent);
    b.types.push_back(b.layout.type);
  }
  b.memory = Memory{b.layout, b.elements};
  return b;
}

namespace {

std::string called(const Collective& c) {
  if (c.form == Form::blocking) return "MPI_" + c.name;
  if (c.form == Form::persistent) return "MPI_" + c.name + "_init";
  std::string rest = c.name;
  rest[0] = static_cast<char>(rest[0] - 'A' + 'a');
  return "MPI_I" + rest;
}

/// docs/formats/patterns.md, "Messages of a collective layer".
void draw(const Collective& c) {
  Books& books = *c.s.books;
  for (const auto& [to, bytes] : c.edges)
    if (to != c.s.rank) books.drawn(c.layer, c.s.rank, to, bytes);
  if (c.beside() || c.layer.rfind("neighbor", 0) == 0) return;
  if (c.comm.inter() && c.root < 0) {
    // Which group is the first, and so who stands in for the root, is not said.
    books.drawn(c.layer, -1, -1, 0);
    return;
  }
  const int root = c.root >= 0 ? c.root_world() : c.comm.members[0];
  if (root == c.s.rank) return;
  if (c.fan_in) books.drawn(c.layer, c.s.rank, root, c.contributes);
  if (c.fan_out) books.drawn(c.layer, root, c.s.rank, c.gets);
}

void count(const Collective& c) {
  c.s.books->collective(called(c), c.comm.size(), c.comm.inter() ? -1 : c.root);
  draw(c);
}

void release_types(Collective& c) {
  c.send.layout.release();
  c.receive.layout.release();
}

/// MPICH 4.0.2 copies some of the data when the request is made, so they are there by then and stay.
void perform_persistent(Script& s, const std::shared_ptr<Collective>& c, const Way& way) {
  MPI_Request request;
  c->fill(0);
  way(c->form, c->large, c->comm.handle, &request);
  for (int round = 0; round < c->rounds; ++round) {
    count(*c);
    if (s.own.chance(50))
      CALL(s, Start, &request);
    else
      CALL(s, Startall, 1, &request);
    Operation one{s.rank, -1, true, true, request, [c](const MPI_Status&) { c->check(0); }};
    complete(s, {&one});
    request = one.request;
  }
  CALL(s, Request_free, &request);
  release_types(*c);  // MPICH 4.0.2 does not keep the types of a persistent collective
}

}  // namespace

void perform(const std::shared_ptr<Collective>& c, const Way& way) {
  Script& s = c->s;
  if (c->form == Form::persistent) return perform_persistent(s, c, way);
  MPI_Request request = MPI_REQUEST_NULL;
  c->fill(0);
  count(*c);
  way(c->form, c->large, c->comm.handle, &request);
  release_types(*c);
  if (c->form == Form::blocking)
    c->check(0);
  else
    later(s, s.rank, -1, request, [c](const MPI_Status&) { c->check(0); });
}

namespace {

/// A number of elements of the signature that keeps the whole operation small.
int random_per(Script& s) {
  return s.random.of({1, 1, 2, 3, 5, 8});
}

void choose_root(Script& s, Collective& c) {
  c.root_group = c.comm.inter() ? s.random.below(2) : 0;
  c.root = s.random.below(static_cast<int>(c.roots().size()));
}

}  // namespace

void collective_step(Script& s) {
  Communicator* comm = random_communicator(s, 1);
  const auto c = std::make_shared<Collective>(s);
  c->comm = *comm;
  // Persistent collectives of MPICH 4.0.2 fail by themselves now and then, so they are asked for only by name.
  c->form = s.random.of(
      {Form::blocking, Form::nonblocking, s.options.persistent ? Form::persistent : Form::blocking});
  c->large = s.large();
  c->rounds = s.random.between(1, 3);
  c->id = s.unique();
  c->base = random_base(s.random);
  c->per = random_per(s);
  choose_root(s, *c);
  const bool topology = !comm->sources.empty();
  const int family = topology && s.random.chance(60) ? 2 : s.random.chance(35) ? 1 : 0;
  const int kind = s.random.below(family == 0   ? kMovingKinds
                                  : family == 1 ? kReductionKinds
                                                : kNeighborhoodKinds);
  // All ranks take the same random numbers from the script, so each goes through it, also those that are no members.
  if (c->form == Form::nonblocking)
    for (const int world : comm->everybody())
      if (world != s.rank) later(s, world);
  const bool member = comm->has(s.rank);
  if (!member) return;
  const Way way = family == 0   ? moving_collective(c, kind)
                  : family == 1 ? reduction(c, kind)
                                : neighborhood(c, kind);
  if (s.options.trace)
    std::fprintf(stderr, "rank %d: %s on communicator %d of %d, large %d, in place %d\n", s.rank,
                 called(*c).c_str(), c->comm.id, c->comm.size(), c->large, c->in_place);
  perform(c, way);
}

}  // namespace random_programs
