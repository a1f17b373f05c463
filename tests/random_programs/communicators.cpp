// Steps that make and free communicators. What a member gets is known to all ranks beforehand, and checked.
#include <algorithm>

#include "tests/random_programs/script.hpp"

namespace random_programs {
namespace {

constexpr std::size_t kMostCommunicators = 9;

Communicator& add(Script& s, const std::vector<int>& members, MPI_Comm handle,
                  const std::vector<int>& others = {}) {
  Communicator c;
  c.id = s.next_id++;
  c.members = members;
  c.others = others;
  c.handle = handle;
  s.check((handle != MPI_COMM_NULL) == c.has(s.rank),
          "somebody is a member who should not be, or the reverse");
  if (handle != MPI_COMM_NULL) {
    int rank, size, remote = 0;
    MPI_Comm_rank(handle, &rank);
    MPI_Comm_size(handle, &size);
    if (c.inter()) MPI_Comm_remote_size(handle, &remote);
    const auto& group = c.group_of(s.rank);
    s.check(rank == index_in(group, s.rank) && size == static_cast<int>(group.size()) &&
                size + remote == c.size(),
            "a new communicator has other members");
  }
  s.communicators.push_back(std::move(c));
  return s.communicators.back();
}

void count(Script& s, const char* name, const Communicator& parent) {
  s.books->communicator_call(name, parent.size());
}

void copy(Script& s, const Communicator& parent) {
  const int way = s.random.below(3);
  MPI_Comm made = MPI_COMM_NULL;
  if (parent.has(s.rank) && way == 0) {
    MPI_Comm_dup(parent.handle, &made);
    count(s, "MPI_Comm_dup", parent);
  } else if (parent.has(s.rank) && way == 1) {
    MPI_Comm_dup_with_info(parent.handle, MPI_INFO_NULL, &made);
    count(s, "MPI_Comm_dup_with_info", parent);
  } else if (parent.has(s.rank)) {
    MPI_Request request;
    MPI_Comm_idup(parent.handle, &made, &request);
    count(s, "MPI_Comm_idup", parent);
    complete_now(s, request, [](const MPI_Status&) {});
  }
  Communicator& c = add(s, parent.members, made, parent.others);
  if (way == 2) return;
  c.sources = parent.sources;
  c.destinations = parent.destinations;
  c.dimensions = parent.dimensions;
  c.extents = parent.extents;
  c.periods = parent.periods;
}

struct Choice {
  int color, key;
};

/// The members of `group` with this color, by key.
std::vector<int> chosen(const std::vector<int>& group, std::map<int, Choice>& choices, int color) {
  std::vector<int> members;
  for (const int world : group)
    if (choices[world].color == color) members.push_back(world);
  std::stable_sort(members.begin(), members.end(),
                   [&](int a, int b) { return choices[a].key < choices[b].key; });
  return members;
}

static_assert(MPI_UNDEFINED < 0);

void split(Script& s, const Communicator& given) {
  const Communicator parent = given;
  const int colors = s.random.between(1, 3);
  std::map<int, Choice> choices;
  for (const int world : parent.everybody())
    choices[world] = {s.random.chance(15) ? MPI_UNDEFINED : s.random.below(colors), s.random.between(-2, 2)};
  if (parent.inter()) {  // MPICH loses messages where a group's first member gets no communicator (README)
    int& color = choices[parent.members[0]].color;
    color = std::max(color, 0);
    choices[parent.others[0]].color = color;
  }
  MPI_Comm made = MPI_COMM_NULL;
  if (parent.has(s.rank)) {
    MPI_Comm_split(parent.handle, choices[s.rank].color, choices[s.rank].key, &made);
    count(s, "MPI_Comm_split", parent);
  }
  for (int color = 0; color < colors; ++color) {
    const auto members = chosen(parent.members, choices, color),
               others = chosen(parent.others, choices, color);
    const bool exists = !members.empty() && (!parent.inter() || !others.empty());
    const bool mine = parent.has(s.rank) && choices[s.rank].color == color;
    if (exists) add(s, members, mine ? made : MPI_COMM_NULL, others);
    if (!exists && mine) s.check(made == MPI_COMM_NULL, "half an intercommunicator");
  }
}

void split_by_host(Script& s, const Communicator& given) {
  const Communicator parent = given;
  MPI_Comm made = MPI_COMM_NULL;
  if (parent.has(s.rank)) {
    MPI_Comm_split_type(parent.handle, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    count(s, "MPI_Comm_split_type", parent);
  }
  add(s, parent.members, made);
}

std::vector<int> some_of(Script& s, std::vector<int> group) {
  s.random.shuffle(group);
  group.resize(static_cast<std::size_t>(s.random.between(1, static_cast<int>(group.size()))));
  return group;
}

void from_group(Script& s, const Communicator& given) {
  const Communicator parent = given;
  const auto members = some_of(s, parent.members);
  const bool by_members = s.random.chance(50);
  MPI_Comm made = MPI_COMM_NULL;
  if (parent.has(s.rank) && (!by_members || index_in(members, s.rank) >= 0)) {
    std::vector<int> indices;
    for (const int world : members) indices.push_back(index_in(parent.members, world));
    MPI_Group all, group;
    MPI_Comm_group(parent.handle, &all);
    MPI_Group_incl(all, static_cast<int>(indices.size()), indices.data(), &group);
    if (by_members) {
      MPI_Comm_create_group(parent.handle, group, 5, &made);
      s.books->call("MPI_Comm_create_group");
    } else {
      MPI_Comm_create(parent.handle, group, &made);
      count(s, "MPI_Comm_create", parent);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&all);
  }
  add(s, members, made);
}

/// Coordinates of a grid's member, the last dimension fastest.
std::vector<int> coordinates(const Communicator& c, int member) {
  std::vector<int> at(c.extents.size());
  for (std::size_t d = c.extents.size(); d-- > 0; member /= c.extents[d]) at[d] = member % c.extents[d];
  return at;
}

int member_at(const Communicator& c, const std::vector<int>& at) {
  int member = 0;
  for (std::size_t d = 0; d < c.extents.size(); ++d) {
    int place = at[d];
    if (place < 0 || place >= c.extents[d]) {
      if (!c.periods[d]) return MPI_PROC_NULL;
      place = (place + c.extents[d]) % c.extents[d];
    }
    member = member * c.extents[d] + place;
  }
  return member;
}

void find_grid_neighbors(Communicator& c) {
  c.dimensions = static_cast<int>(c.extents.size());
  for (int member = 0; member < c.size(); ++member) {
    std::vector<int> neighbors;
    for (std::size_t d = 0; d < c.extents.size(); ++d)
      for (const int step : {-1, 1}) {
        auto at = coordinates(c, member);
        at[d] += step;
        neighbors.push_back(member_at(c, at));
      }
    c.sources.push_back(neighbors);
    c.destinations.push_back(neighbors);
  }
}

/// Rings of one or two members have each neighbour twice, and MPI does not say in which order: they are left open.
void grid(Script& s, const Communicator& given) {
  const Communicator parent = given;
  Communicator shape;
  int cells = 1;
  for (int d = s.random.between(1, 3); d > 0; --d) {
    const int extent = s.random.between(1, std::min(4, parent.size() / cells));
    shape.extents.push_back(extent);
    shape.periods.push_back(extent > 2 && s.random.chance(50));
    cells *= extent;
  }
  MPI_Comm made = MPI_COMM_NULL;
  if (parent.has(s.rank)) {
    MPI_Cart_create(parent.handle, static_cast<int>(shape.extents.size()), shape.extents.data(),
                    shape.periods.data(), 0, &made);
    count(s, "MPI_Cart_create", parent);
  }
  const std::vector<int> members(parent.members.begin(), parent.members.begin() + cells);
  Communicator& c = add(s, members, made);
  c.extents = shape.extents;
  c.periods = shape.periods;
  find_grid_neighbors(c);
}

void part_of_grid(Script& s, const Communicator& given) {
  const Communicator parent = given;
  std::vector<int> kept;
  for (std::size_t d = 0; d < parent.extents.size(); ++d) kept.push_back(s.random.chance(60));
  if (parent.size() > 1 && index_in(kept, 1) < 0)
    kept.front() = 1;  // MPICH gives a part without dimensions to one alone
  Communicator shape;
  for (std::size_t d = 0; d < parent.extents.size(); ++d) {
    if (!kept[d]) continue;
    shape.extents.push_back(parent.extents[d]);
    shape.periods.push_back(parent.periods[d]);
  }
  MPI_Comm made = MPI_COMM_NULL;
  if (parent.has(s.rank)) {
    MPI_Cart_sub(parent.handle, kept.data(), &made);
    count(s, "MPI_Cart_sub", parent);
  }
  std::map<std::vector<int>, std::vector<int>> parts;  // by the coordinates that are gone
  for (int member = 0; member < parent.size(); ++member) {
    auto at = coordinates(parent, member);
    for (std::size_t d = 0; d < at.size(); ++d)
      if (kept[d]) at[d] = 0;
    parts[at].push_back(parent.members[static_cast<std::size_t>(member)]);
  }
  for (const auto& [at, members] : parts) {
    Communicator& c = add(s, members, index_in(members, s.rank) >= 0 ? made : MPI_COMM_NULL);
    if (shape.extents.empty()) continue;
    c.extents = shape.extents;
    c.periods = shape.periods;
    find_grid_neighbors(c);
  }
}

using Edges = std::vector<std::vector<int>>;

Edges reversed(const Edges& edges) {
  Edges back(edges.size());
  for (std::size_t from = 0; from < edges.size(); ++from)
    for (const int to : edges[from]) back[static_cast<std::size_t>(to)].push_back(static_cast<int>(from));
  return back;
}

Edges random_edges(Script& s, int n, bool both_ways) {
  Edges edges(static_cast<std::size_t>(n));
  const int share = s.random.between(10, 90);
  for (int a = 0; a < n; ++a)
    for (int b = both_ways ? a + 1 : 0; b < n; ++b) {
      if (!s.random.chance(share)) continue;
      edges[static_cast<std::size_t>(a)].push_back(b);
      if (both_ways) edges[static_cast<std::size_t>(b)].push_back(a);
    }
  return edges;
}

void graph(Script& s, const Communicator& given) {
  const Communicator parent = given;
  const Edges edges = random_edges(s, parent.size(), true);
  std::vector<int> index, list;
  for (const auto& neighbors : edges) {
    list.insert(list.end(), neighbors.begin(), neighbors.end());
    index.push_back(static_cast<int>(list.size()));
  }
  list.push_back(0);  // not a null pointer
  MPI_Comm made = MPI_COMM_NULL;
  if (parent.has(s.rank)) {
    MPI_Graph_create(parent.handle, parent.size(), index.data(), list.data(), 0, &made);
    count(s, "MPI_Graph_create", parent);
  }
  Communicator& c = add(s, parent.members, made);
  c.sources = c.destinations = edges;
}

void adjacent_graph(Script& s, const Communicator& given) {
  const Communicator parent = given;
  const Edges out = random_edges(s, parent.size(), false), in = reversed(out);
  MPI_Comm made = MPI_COMM_NULL;
  if (parent.has(s.rank)) {
    const auto me = static_cast<std::size_t>(index_in(parent.members, s.rank));
    MPI_Dist_graph_create_adjacent(parent.handle, static_cast<int>(in[me].size()), in[me].data(),
                                   MPI_UNWEIGHTED, static_cast<int>(out[me].size()), out[me].data(),
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
    count(s, "MPI_Dist_graph_create_adjacent", parent);
  }
  Communicator& c = add(s, parent.members, made);
  c.sources = in;
  c.destinations = out;
}

/// MPI may list the neighbours in any order, so each asks for its own and tells nobody: collectives on it are not
/// for those who must know everybody's.
void told_graph(Script& s, const Communicator& given) {
  const Communicator parent = given;
  const Edges out = random_edges(s, parent.size(), false);
  MPI_Comm made = MPI_COMM_NULL;
  if (parent.has(s.rank)) {
    const int me = index_in(parent.members, s.rank),
              degree = static_cast<int>(out[static_cast<std::size_t>(me)].size());
    MPI_Dist_graph_create(parent.handle, 1, &me, &degree, out[static_cast<std::size_t>(me)].data(),
                          MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
    count(s, "MPI_Dist_graph_create", parent);
  }
  add(s, parent.members, made);
}

/// Between two parts of the communicator.
void bridge(Script& s, const Communicator& given) {
  const Communicator parent = given;
  std::vector<int> order = parent.members;
  s.random.shuffle(order);
  const auto middle = order.begin() + s.random.between(1, parent.size() - 1);
  std::map<int, Choice> choices;
  for (auto it = order.begin(); it != order.end(); ++it)
    choices[*it] = {it < middle ? 0 : 1, static_cast<int>(it - order.begin())};
  const std::vector<int> first(order.begin(), middle), second(middle, order.end());
  const int tag = s.next_tag++;
  MPI_Comm made = MPI_COMM_NULL, half = MPI_COMM_NULL;
  if (parent.has(s.rank)) {
    MPI_Comm_split(parent.handle, choices[s.rank].color, choices[s.rank].key, &half);
    count(s, "MPI_Comm_split", parent);
    const int leader = index_in(parent.members, choices[s.rank].color == 0 ? second[0] : first[0]);
    MPI_Intercomm_create(half, 0, parent.handle, leader, tag, &made);
    s.books->call("MPI_Intercomm_create");
    MPI_Comm_free(&half);
    s.books->call("MPI_Comm_free");
  }
  add(s, first, made, second);
}

void merge(Script& s, const Communicator& given) {
  const Communicator parent = given;
  const bool second_high = s.random.chance(70);
  MPI_Comm made = MPI_COMM_NULL;
  if (parent.has(s.rank)) {
    const bool in_second = index_in(parent.others, s.rank) >= 0;
    MPI_Intercomm_merge(parent.handle, in_second == second_high, &made);
    count(s, "MPI_Intercomm_merge", parent);
  }
  std::vector<int> members = second_high ? parent.members : parent.others;
  const auto& rest = second_high ? parent.others : parent.members;
  members.insert(members.end(), rest.begin(), rest.end());
  add(s, members, made);
}

void free_one(Script& s, std::size_t index) {
  Communicator& c = s.communicators[index];
  if (c.handle != MPI_COMM_NULL) {
    CALL(s, Comm_free, &c.handle);
  }
  s.communicators.erase(s.communicators.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace

void communicator_step(Script& s) {
  if (s.communicators.size() >= kMostCommunicators) return free_communicator_step(s, false);
  const Communicator& parent = *random_communicator(s, 1);
  if (parent.inter()) {
    const int way = s.random.below(3);
    return way == 0 ? copy(s, parent) : way == 1 ? split(s, parent) : merge(s, parent);
  }
  switch (s.random.below(10)) {
    case 0:
      return copy(s, parent);
    case 1:
      return split(s, parent);
    case 2:
      return split_by_host(s, parent);
    case 3:
      return from_group(s, parent);
    case 4:
      return grid(s, parent);
    case 5:
      return parent.dimensions > 0 ? part_of_grid(s, parent) : grid(s, parent);
    case 6:
      return graph(s, parent);
    case 7:
      return adjacent_graph(s, parent);
    case 8:
      return told_graph(s, parent);
    default:
      return parent.size() > 1 ? bridge(s, parent) : copy(s, parent);
  }
}

/// A communicator may be freed while something is under way on it, but not while one side is still to come.
void free_communicator_step(Script& s, bool all) {
  for (std::size_t i = s.communicators.size(); i-- > 1;)
    if (s.communicators[i].half_open == 0 && (all || s.random.chance(25))) free_one(s, i);
}

}  // namespace random_programs
