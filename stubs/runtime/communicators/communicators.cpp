#include "stubs/runtime/communicators/communicators.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "stubs/pmpi.hpp"
#include "stubs/runtime/communicators/session_world.hpp"

namespace nplus1::stubs {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {  // splitmix64's finaliser
  hash += 0x9e3779b97f4a7c15u + value;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
  return hash ^ (hash >> 31);
}

std::uint64_t hash_members(std::uint64_t hash, const std::vector<std::int32_t>& members) {
  for (const std::int32_t m : members) hash = mix(hash, static_cast<std::uint64_t>(m));
  return hash;
}

std::vector<std::int32_t> members_of(MPI_Comm comm, int (*group_of)(MPI_Comm, MPI_Group*)) {
  MPI_Group group = MPI_GROUP_NULL;
  group_of(comm, &group);
  std::vector<std::int32_t> members = world_ranks(group);
  pmpi::Group_free(&group);
  return members;
}

}  // namespace

std::vector<std::int32_t> world_ranks(MPI_Group group) {
  MPI_Group all = MPI_GROUP_NULL;
  pmpi::Comm_group(world(), &all);
  int size = 0;
  pmpi::Group_size(group, &size);
  std::vector<int> here(static_cast<std::size_t>(size));
  std::iota(here.begin(), here.end(), 0);
  std::vector<std::int32_t> there(here.size());
  if (size > 0) pmpi::Group_translate_ranks(group, size, here.data(), all, there.data());
  pmpi::Group_free(&all);
  return there;
}

RankId Communicator::world(int r) const {
  if (r == MPI_ANY_SOURCE) return kAnySource;
  if (r < 0 || static_cast<std::size_t>(r) >= peers().size()) return kProcNull;
  return RankId{peers()[static_cast<std::size_t>(r)]};
}

int Communicator::rank_of(std::int32_t w) const {
  const auto it = std::find(peers().begin(), peers().end(), w);
  return static_cast<int>(it - peers().begin());
}

std::shared_ptr<Communicator> Communicators::make(std::vector<std::int32_t> members, Origin origin,
                                                  std::uint64_t creation) {
  auto made = std::make_shared<Communicator>();
  const std::uint64_t what = hash_members(mix(origin.name, creation), members);
  // With the parent go its counters: its key is never another's.
  Creations& creations = origin.parent == nullptr ? creations_ : origin.parent->creations;
  made->key = mix(what, creations[what]++);
  made->number = CommId{++numbers_};
  made->local = members;
  made->all = std::move(members);
  return made;
}

Communicator& Communicators::adopt(MPI_Comm comm, std::shared_ptr<Communicator> made) {
  int inter = 0;
  pmpi::Comm_test_inter(comm, &inter);
  made->handle = comm;
  made->inter = inter != 0;
  if (made->inter)
    made->remote = members_of(comm, [](MPI_Comm c, MPI_Group* g) { return pmpi::Comm_remote_group(c, g); });
  pmpi::Comm_rank(comm, &made->my_index);
  forget_last();
  return *(by_handle_[comm] = std::move(made));
}

Communicator& Communicators::add(MPI_Comm comm, Origin origin, std::uint64_t creation) {
  std::vector<std::int32_t> members =
      members_of(comm, [](MPI_Comm c, MPI_Group* g) { return pmpi::Comm_group(c, g); });
  int inter = 0;
  pmpi::Comm_test_inter(comm, &inter);
  if (inter == 0) return adopt(comm, make(std::move(members), origin, creation));
  // Both sides must compute the same key: the group with the smaller first member comes first.
  std::vector<std::int32_t> both =
      members_of(comm, [](MPI_Comm c, MPI_Group* g) { return pmpi::Comm_remote_group(c, g); });
  const std::vector<std::int32_t> local = members;
  if (both.front() < members.front()) std::swap(both, members);
  const auto first_group = static_cast<std::int32_t>(members.size());
  members.insert(members.end(), both.begin(), both.end());
  std::shared_ptr<Communicator> made = make(std::move(members), origin, creation);
  made->local = local;
  made->first_group = first_group;
  return adopt(comm, std::move(made));
}

void Communicators::forget(MPI_Comm comm) {
  by_handle_.erase(comm);
  forget_last();
}

}  // namespace nplus1::stubs
