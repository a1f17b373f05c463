// Steps with windows: fences, post-start-complete-wait, locks. Who reaches what is disjoint or accumulated, so that the
// outcome is determined, and so are the times: locks are granted in the order of virtual time.
#include "tests/random_programs/script.hpp"

namespace random_programs {
namespace {

using Cell = std::int64_t;
enum Sync { fences, groups, locks, all_locked };
constexpr int kSyncs = 4;

/// What one member does to another.
struct Access {
  bool puts = false, gets = false, adds = false, fetches = false;
  bool any() const { return puts || gets || adds || fetches; }
};

/// A member's window: cells that are read, a slot for each member's put, sums, a counter.
struct Plan {
  int members, cells;
  std::uint64_t key;
  std::vector<std::vector<Access>> access;  // origin, target
  std::vector<bool> exclusive;              // the locks of an origin

  MPI_Aint slot(int origin) const { return MPI_Aint{cells} * (1 + origin); }
  MPI_Aint sums() const { return MPI_Aint{cells} * (1 + members); }
  MPI_Aint counter() const { return sums() + cells; }
  /// An even number: what MPI_Win_allocate of MPICH 4.0.2 gives others to reach is elsewhere, unless 16 divides the bytes.
  MPI_Aint size() const { return (counter() + 2) / 2 * 2; }
  Cell given(int member, int cell) const { return value(1, member, member, cell); }
  Cell put(int origin, int target, int cell) const { return value(2, origin, target, cell); }
  static Cell added(int origin, int cell) { return Cell{origin + 1} * (cell % 7 + 1); }

 private:
  Cell value(int what, int a, int b, int cell) const {
    return static_cast<Cell>(mix(mix(key, static_cast<std::uint64_t>(what)),
                                 static_cast<std::uint64_t>((a * 1000 + b) * 10000 + cell)));
  }
};

Plan random_plan(Script& s, int members) {
  Plan p{members,
         s.random.chance(15) ? s.random.between(300, 3000) : s.random.between(1, 60),
         s.unique(),
         {},
         {}};
  const int share = s.random.between(10, 90);
  for (int origin = 0; origin < members; ++origin) {
    p.access.emplace_back();
    p.exclusive.push_back(s.random.chance(40));
    for (int target = 0; target < members; ++target)
      p.access.back().push_back(
          {s.random.chance(share), s.random.chance(share), s.random.chance(share), s.random.chance(share)});
  }
  return p;
}

/// What an origin works with until the epoch ends.
struct Origin {
  Script& s;
  const Plan& plan;
  MPI_Win window;
  int me;
  std::deque<std::vector<Cell>> put = {}, got = {}, added = {}, before = {};
  std::vector<int> asked = {};
  Cell one = 1;

  std::vector<Cell>& cells(std::deque<std::vector<Cell>>& of) {
    return of.emplace_back(static_cast<std::size_t>(plan.cells));
  }

  void reach(int target, bool passive) {
    const Access& a = plan.access[static_cast<std::size_t>(me)][static_cast<std::size_t>(target)];
    if (a.puts) write(target, passive);
    if (a.gets) read(target, passive);
    if (a.adds) add(target);
    if (a.fetches)
      MPI_Fetch_and_op(&one, before.emplace_back(1).data(), MPI_INT64_T, target, plan.counter(), MPI_SUM,
                       window);
  }

  void write(int target, bool passive) {
    std::vector<Cell>& from = cells(put);
    for (int i = 0; i < plan.cells; ++i) from[static_cast<std::size_t>(i)] = plan.put(me, target, i);
    if (!passive || s.own.chance(50)) {
      MPI_Put(from.data(), plan.cells, MPI_INT64_T, target, plan.slot(me), plan.cells, MPI_INT64_T, window);
      return;
    }
    MPI_Request request;
    MPI_Rput(from.data(), plan.cells, MPI_INT64_T, target, plan.slot(me), plan.cells, MPI_INT64_T, window,
             &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  void read(int target, bool passive) {
    std::vector<Cell>& to = cells(got);
    asked.push_back(target);
    if (!passive || s.own.chance(50)) {
      MPI_Get(to.data(), plan.cells, MPI_INT64_T, target, 0, plan.cells, MPI_INT64_T, window);
      return;
    }
    MPI_Request request;
    MPI_Rget(to.data(), plan.cells, MPI_INT64_T, target, 0, plan.cells, MPI_INT64_T, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  void add(int target) {
    std::vector<Cell>& from = cells(added);
    for (int i = 0; i < plan.cells; ++i) from[static_cast<std::size_t>(i)] = Plan::added(me, i);
    if (s.own.chance(50))
      MPI_Accumulate(from.data(), plan.cells, MPI_INT64_T, target, plan.sums(), plan.cells, MPI_INT64_T,
                     MPI_SUM, window);
    else
      MPI_Get_accumulate(from.data(), plan.cells, MPI_INT64_T, cells(before).data(), plan.cells, MPI_INT64_T,
                         target, plan.sums(), plan.cells, MPI_INT64_T, MPI_SUM, window);
  }

  void check() {
    for (std::size_t k = 0; k < asked.size(); ++k)
      for (int i = 0; i < plan.cells; ++i)
        s.check(got[k][static_cast<std::size_t>(i)] == plan.given(asked[k], i),
                "a get brings something else");
    s.note(plan.key + asked.size());
  }
};

/// The members among which something is reached: by `me`, or of `me`.
MPI_Group reached(MPI_Comm comm, const Plan& p, int me, bool by_me) {
  std::vector<int> ranks;
  for (int other = 0; other < p.members; ++other)
    if ((by_me ? p.access[static_cast<std::size_t>(me)][static_cast<std::size_t>(other)]
               : p.access[static_cast<std::size_t>(other)][static_cast<std::size_t>(me)])
            .any())
      ranks.push_back(other);
  MPI_Group all, group;
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &group);
  MPI_Group_free(&all);
  return group;
}

void by_fences(Origin& o) {
  MPI_Win_fence(0, o.window);
  for (int target = 0; target < o.plan.members; ++target) o.reach(target, false);
  MPI_Win_fence(0, o.window);
}

void by_groups(Origin& o, MPI_Comm comm) {
  MPI_Group targets = reached(comm, o.plan, o.me, true), origins = reached(comm, o.plan, o.me, false);
  MPI_Win_post(origins, 0, o.window);
  MPI_Win_start(targets, 0, o.window);
  for (int target = 0; target < o.plan.members; ++target) o.reach(target, false);
  MPI_Win_complete(o.window);
  MPI_Win_wait(o.window);
  MPI_Group_free(&targets);
  MPI_Group_free(&origins);
}

/// Everybody's window is filled before, and looked at after.
void by_locks(Origin& o, MPI_Comm comm, bool all) {
  MPI_Barrier(comm);
  if (all) MPI_Win_lock_all(0, o.window);
  for (int i = 0; i < o.plan.members; ++i) {
    const int target = (o.me + i) % o.plan.members;
    const int kind = o.plan.exclusive[static_cast<std::size_t>(o.me)] ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
    if (!all) MPI_Win_lock(kind, target, 0, o.window);
    o.reach(target, true);
    if (o.s.own.chance(30)) MPI_Win_flush(target, o.window);
    if (!all) MPI_Win_unlock(target, o.window);
  }
  if (all) MPI_Win_unlock_all(o.window);
  MPI_Barrier(comm);
}

/// What the others have left in this member's window.
void check_window(Script& s, const Plan& p, int me, const Cell* memory) {
  Cell fetched = 0;
  for (int origin = 0; origin < p.members; ++origin) {
    const Access& a = p.access[static_cast<std::size_t>(origin)][static_cast<std::size_t>(me)];
    fetched += a.fetches;
    for (int i = 0; i < p.cells; ++i)
      s.check(memory[p.slot(origin) + i] == (a.puts ? p.put(origin, me, i) : 0),
              "a put has left something else");
  }
  for (int i = 0; i < p.cells; ++i) {
    Cell sum = 0;
    for (int origin = 0; origin < p.members; ++origin)
      if (p.access[static_cast<std::size_t>(origin)][static_cast<std::size_t>(me)].adds)
        sum += Plan::added(origin, i);
    s.check(memory[p.sums() + i] == sum, "what was accumulated is something else");
    s.check(memory[i] == p.given(me, i), "what is only read has changed");
  }
  s.check(memory[p.counter()] == fetched, "the counter is another");
  s.note(static_cast<std::uint64_t>(fetched) + 77);
}

}  // namespace

void one_sided_step(Script& s) {
  const Communicator* c = random_communicator(s, 1, false);
  if (c == nullptr) return;
  const bool allocates = s.random.chance(50);
  const int sync = s.random.below(kSyncs);
  const Plan p = random_plan(s, c->size());
  if (!c->has(s.rank)) return;
  const int me = index_in(c->members, s.rank);
  const MPI_Aint bytes = p.size() * static_cast<MPI_Aint>(sizeof(Cell));
  std::vector<Cell> mine(allocates ? 0 : static_cast<std::size_t>(p.size()));
  Cell* memory = mine.data();
  MPI_Win window;
  if (allocates)
    MPI_Win_allocate(bytes, sizeof(Cell), MPI_INFO_NULL, c->handle, &memory, &window);
  else
    MPI_Win_create(memory, bytes, sizeof(Cell), MPI_INFO_NULL, c->handle, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, window);
  for (MPI_Aint i = 0; i < p.size(); ++i) memory[i] = i < p.cells ? p.given(me, static_cast<int>(i)) : 0;
  MPI_Win_unlock(me, window);
  MPI_Barrier(c->handle);
  Origin o{s, p, window, me};
  if (sync == fences)
    by_fences(o);
  else if (sync == groups)
    by_groups(o, c->handle);
  else
    by_locks(o, c->handle, sync == all_locked);
  o.check();
  if (s.options.trace)
    std::fprintf(stderr, "rank %d: window of %d cells, sync %d, allocated %d, comm of %d\n", s.rank, p.cells,
                 sync, allocates, p.members);
  MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
  check_window(s, p, me, memory);
  MPI_Win_unlock(me, window);
  MPI_Win_free(&window);
}

}  // namespace random_programs
