// Every collective call of MPI 4.0 that nplus1 models, in its blocking, non-blocking and persistent form, within groups
// and between them, and every call that makes a communicator. Each result is checked where it arrives.
// Usage: all_collectives CALL[,CALL...] BYTES[,BYTES...] [MANNER...]
// A CALL is the name of a function without MPI_ (Allreduce, Iallreduce, Allreduce_init, Comm_split), or one of those
// between groups (inter_Allreduce); `all` are all. A MANNER is what the ranks do around each call; several in turn:
//   alone     nothing
//   skewed    they enter one after the other, in another order each time
//   crossed   a message is on its way to another rank meanwhile
//   held      one comes late: it waits for the receiver of a message, which is in the call, or past it
//   pending   a receive from any source is pending meanwhile; its message is sent afterwards
//   chatty    after the call neighbours talk at once, in an order that makes some wait for others
// Prints for each rank its number and its MPI_Wtime at the end.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nplus1.h"

enum { kTag = 77 };
enum form { kBlocking, kImmediate, kPersistent };

static int me, n, bytes, count, turn;
static int *in, *out, *to_counts, *to_places, *from_counts, *from_places;
static MPI_Datatype* types;
static enum form form;
static const char* call_name;

static void expect(int got, int wanted, int index) {
  if (got == wanted) return;
  fprintf(stderr, "%s: rank %d of %d, %d bytes: element %d is %d instead of %d\n", call_name, me, n, bytes,
          index, got, wanted);
  MPI_Abort(MPI_COMM_WORLD, 99);
}

/* Element i of what `from` gives to `to`. */
static int value(int from, int to, int i) {
  return from * 1009 + to * 31 + i % 97;
}
static void fill(int* block, int from, int to, int elements) {
  for (int i = 0; i < elements; ++i) block[i] = value(from, to, i);
}
static void check(const int* block, int from, int to, int elements) {
  for (int i = 0; i < elements; ++i) expect(block[i], value(from, to, i), i);
}
/* The sum over the ranks first..last. */
static void check_sum(const int* block, int first, int last, int to, int elements) {
  for (int i = 0; i < elements; ++i) {
    int sum = 0;
    for (int r = first; r <= last; ++r) sum += value(r, to, i);
    expect(block[i], sum, i);
  }
}

/* In calls with a list some blocks are empty, some are long. */
static int block_of(int r) {
  return r % 4 == 3 ? 0 : count * (r % 3) / 2 + 1;
}
/* Alltoallv: to half of the others, who don't all send back. */
static int between(int from, int to) {
  return (to - from + n) % n <= n / 2 ? count * ((from + to) % 3) / 2 : 0;
}
static int place(int* counts, int* places) {
  int total = 0;
  for (int r = 0; r < n; ++r) {
    places[r] = total;
    total += counts[r];
  }
  return total;
}
static void list_blocks(void) {
  for (int r = 0; r < n; ++r) to_counts[r] = block_of(r);
  place(to_counts, to_places);
}
static void list_pairs(int unit) {
  for (int r = 0; r < n; ++r) {
    to_counts[r] = between(me, r);
    from_counts[r] = between(r, me);
  }
  place(to_counts, to_places);
  place(from_counts, from_places);
  for (int r = 0; r < n; ++r) fill(out + to_places[r], me, r, to_counts[r]);
  for (int r = 0; r < n; ++r) {
    to_places[r] *= unit;
    from_places[r] *= unit;
  }
}

/* Persistent ones are started twice, but Scatter's, at whose second start MPICH 4.0.2 fails. */
static void complete(MPI_Request* request) {
  const int starts = form == kPersistent && strstr(call_name, "Scatter_init") == NULL ? 2 : 1;
  for (int start = 0; start < starts; ++start) {
    if (form == kPersistent) MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
  }
  if (form == kPersistent) MPI_Request_free(request);
}

/* Persistent ones are of MPI 4. */
#if MPI_VERSION >= 4
#define PERSISTENT(Name, ...) MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request)
enum { kForms = 3 };
#else
#define PERSISTENT(Name, ...) MPI_Abort(MPI_COMM_WORLD, 1)
enum { kForms = 2 };
#endif

/* The call in its form. */
#define FORMS(Name, name, ...)                                  \
  do {                                                          \
    MPI_Request request = MPI_REQUEST_NULL;                     \
    if (form == kBlocking) MPI_##Name(__VA_ARGS__);             \
    if (form == kImmediate) MPI_I##name(__VA_ARGS__, &request); \
    if (form == kPersistent) PERSISTENT(Name, __VA_ARGS__);     \
    if (form != kBlocking) complete(&request);                  \
  } while (0)

static void barrier(MPI_Comm comm, int root) {
  (void)root;
  FORMS(Barrier, barrier, comm);
}
static void bcast(MPI_Comm comm, int root) {
  if (me == root) fill(in, root, 0, count);
  FORMS(Bcast, bcast, in, count, MPI_INT, root, comm);
  check(in, root, 0, count);
}
static void gather(MPI_Comm comm, int root) {
  fill(out, me, root, count);
  FORMS(Gather, gather, out, count, MPI_INT, in, count, MPI_INT, root, comm);
  for (int r = 0; r < n && me == root; ++r) check(in + r * count, r, root, count);
}
static void gatherv(MPI_Comm comm, int root) {
  list_blocks();
  fill(out, me, root, block_of(me));
  FORMS(Gatherv, gatherv, out, block_of(me), MPI_INT, in, to_counts, to_places, MPI_INT, root, comm);
  for (int r = 0; r < n && me == root; ++r) check(in + to_places[r], r, root, to_counts[r]);
}
static void scatter(MPI_Comm comm, int root) {
  for (int r = 0; r < n && me == root; ++r) fill(out + r * count, root, r, count);
  FORMS(Scatter, scatter, out, count, MPI_INT, in, count, MPI_INT, root, comm);
  check(in, root, me, count);
}
static void scatterv(MPI_Comm comm, int root) {
  list_blocks();
  for (int r = 0; r < n && me == root; ++r) fill(out + to_places[r], root, r, to_counts[r]);
  FORMS(Scatterv, scatterv, out, to_counts, to_places, MPI_INT, in, block_of(me), MPI_INT, root, comm);
  check(in, root, me, block_of(me));
}
static void allgather(MPI_Comm comm, int root) {
  (void)root;
  fill(out, me, 0, count);
  FORMS(Allgather, allgather, out, count, MPI_INT, in, count, MPI_INT, comm);
  for (int r = 0; r < n; ++r) check(in + r * count, r, 0, count);
}
static void allgatherv(MPI_Comm comm, int root) {
  (void)root;
  list_blocks();
  fill(out, me, 0, block_of(me));
  FORMS(Allgatherv, allgatherv, out, block_of(me), MPI_INT, in, to_counts, to_places, MPI_INT, comm);
  for (int r = 0; r < n; ++r) check(in + to_places[r], r, 0, to_counts[r]);
}
static void alltoall(MPI_Comm comm, int root) {
  (void)root;
  for (int r = 0; r < n; ++r) fill(out + r * count, me, r, count);
  FORMS(Alltoall, alltoall, out, count, MPI_INT, in, count, MPI_INT, comm);
  for (int r = 0; r < n; ++r) check(in + r * count, r, me, count);
}
static void alltoallv(MPI_Comm comm, int root) {
  (void)root;
  list_pairs(1);
  FORMS(Alltoallv, alltoallv, out, to_counts, to_places, MPI_INT, in, from_counts, from_places, MPI_INT,
        comm);
  for (int r = 0; r < n; ++r) check(in + from_places[r], r, me, from_counts[r]);
}
static void alltoallw(MPI_Comm comm, int root) {
  (void)root;
  list_pairs((int)sizeof(int));
  FORMS(Alltoallw, alltoallw, out, to_counts, to_places, types, in, from_counts, from_places, types, comm);
  for (int r = 0; r < n; ++r) check(in + from_places[r] / (int)sizeof(int), r, me, from_counts[r]);
}
static void reduce(MPI_Comm comm, int root) {
  fill(out, me, 0, count);
  FORMS(Reduce, reduce, out, in, count, MPI_INT, MPI_SUM, root, comm);
  if (me == root) check_sum(in, 0, n - 1, 0, count);
}
static void allreduce(MPI_Comm comm, int root) {
  (void)root;
  fill(out, me, 0, count);
  FORMS(Allreduce, allreduce, out, in, count, MPI_INT, MPI_SUM, comm);
  check_sum(in, 0, n - 1, 0, count);
}
static void reduce_scatter_block(MPI_Comm comm, int root) {
  (void)root;
  for (int r = 0; r < n; ++r) fill(out + r * count, me, r, count);
  FORMS(Reduce_scatter_block, reduce_scatter_block, out, in, count, MPI_INT, MPI_SUM, comm);
  check_sum(in, 0, n - 1, me, count);
}
static void reduce_scatter(MPI_Comm comm, int root) {
  (void)root;
  list_blocks();
  for (int r = 0; r < n; ++r) fill(out + to_places[r], me, r, to_counts[r]);
  FORMS(Reduce_scatter, reduce_scatter, out, in, to_counts, MPI_INT, MPI_SUM, comm);
  check_sum(in, 0, n - 1, me, block_of(me));
}
static void scan(MPI_Comm comm, int root) {
  (void)root;
  fill(out, me, 0, count);
  FORMS(Scan, scan, out, in, count, MPI_INT, MPI_SUM, comm);
  check_sum(in, 0, me, 0, count);
}
static void exscan(MPI_Comm comm, int root) {
  (void)root;
  fill(out, me, 0, count);
  FORMS(Exscan, exscan, out, in, count, MPI_INT, MPI_SUM, comm);
  if (me > 0) check_sum(in, 0, me - 1, 0, count);
}

/* --- neighbourhoods: each rank sends to the next and to the third, on a ring --- */
enum { kMostNeighbors = 2 };
static const int kDistances[kMostNeighbors] = {1, 3};
static int neighbors; /* small rings have the next alone */
static MPI_Comm ring_of(MPI_Comm comm) {
  int sources[kMostNeighbors], destinations[kMostNeighbors];
  for (int i = 0; i < neighbors; ++i) {
    destinations[i] = (me + kDistances[i]) % n;
    sources[i] = (me + n * kDistances[i] - kDistances[i]) % n;
  }
  MPI_Comm ring;
  MPI_Dist_graph_create_adjacent(comm, neighbors, sources, MPI_UNWEIGHTED, neighbors, destinations,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  return ring;
}
static int source(int i) {
  return (me + n * kDistances[i] - kDistances[i]) % n;
}
static void neighbor_allgather(MPI_Comm comm, int root) {
  (void)root;
  MPI_Comm ring = ring_of(comm);
  fill(out, me, 0, count);
  FORMS(Neighbor_allgather, neighbor_allgather, out, count, MPI_INT, in, count, MPI_INT, ring);
  for (int i = 0; i < neighbors; ++i) check(in + i * count, source(i), 0, count);
  MPI_Comm_free(&ring);
}
static void neighbor_allgatherv(MPI_Comm comm, int root) {
  (void)root;
  MPI_Comm ring = ring_of(comm);
  for (int i = 0; i < neighbors; ++i) {
    from_counts[i] = block_of(source(i));
    from_places[i] = i * (2 * count + 1);
  }
  fill(out, me, 0, block_of(me));
  FORMS(Neighbor_allgatherv, neighbor_allgatherv, out, block_of(me), MPI_INT, in, from_counts, from_places,
        MPI_INT, ring);
  for (int i = 0; i < neighbors; ++i) check(in + from_places[i], source(i), 0, from_counts[i]);
  MPI_Comm_free(&ring);
}
static void neighbor_alltoall(MPI_Comm comm, int root) {
  (void)root;
  MPI_Comm ring = ring_of(comm);
  for (int i = 0; i < neighbors; ++i) fill(out + i * count, me, kDistances[i], count);
  FORMS(Neighbor_alltoall, neighbor_alltoall, out, count, MPI_INT, in, count, MPI_INT, ring);
  for (int i = 0; i < neighbors; ++i) check(in + i * count, source(i), kDistances[i], count);
  MPI_Comm_free(&ring);
}
static void neighbor_alltoallv(MPI_Comm comm, int root) {
  (void)root;
  MPI_Comm ring = ring_of(comm);
  for (int i = 0; i < neighbors; ++i) {
    to_counts[i] = from_counts[i] = count / (i + 1);
    to_places[i] = from_places[i] = i * count;
    fill(out + to_places[i], me, kDistances[i], to_counts[i]);
  }
  FORMS(Neighbor_alltoallv, neighbor_alltoallv, out, to_counts, to_places, MPI_INT, in, from_counts,
        from_places, MPI_INT, ring);
  for (int i = 0; i < neighbors; ++i) check(in + from_places[i], source(i), kDistances[i], from_counts[i]);
  MPI_Comm_free(&ring);
}
static void neighbor_alltoallw(MPI_Comm comm, int root) {
  (void)root;
  MPI_Comm ring = ring_of(comm);
  MPI_Aint at[kMostNeighbors];
  for (int i = 0; i < neighbors; ++i) {
    to_counts[i] = from_counts[i] = count / (i + 1);
    at[i] = (MPI_Aint)sizeof(int) * i * count;
    fill(out + i * count, me, kDistances[i], to_counts[i]);
  }
  FORMS(Neighbor_alltoallw, neighbor_alltoallw, out, to_counts, at, types, in, from_counts, at, types, ring);
  for (int i = 0; i < neighbors; ++i) check(in + i * count, source(i), kDistances[i], from_counts[i]);
  MPI_Comm_free(&ring);
}

/* --- communicators: what was made is used once --- */
static void use(MPI_Comm* made) {
  if (*made == MPI_COMM_NULL) return;
  int size, sum = 0, one = 1, inter = 0;
  MPI_Comm_test_inter(*made, &inter);
  if (inter)
    MPI_Comm_remote_size(*made, &size);
  else
    MPI_Comm_size(*made, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, *made);
  expect(sum, size, 0);
  MPI_Comm_free(made);
}
static void comm_dup(MPI_Comm comm, int root) {
  (void)root;
  MPI_Comm made;
  MPI_Comm_dup(comm, &made);
  use(&made);
}
static void comm_dup_with_info(MPI_Comm comm, int root) {
  (void)root;
  MPI_Comm made;
  MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made);
  use(&made);
}
static void comm_idup(MPI_Comm comm, int root) {
  (void)root;
  MPI_Comm made;
  MPI_Request request;
  MPI_Comm_idup(comm, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  use(&made);
}
#if MPI_VERSION >= 4
static void comm_idup_with_info(MPI_Comm comm, int root) {
  (void)root;
  MPI_Comm made;
  MPI_Request request;
  MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  use(&made);
}
#endif
static void comm_split(MPI_Comm comm, int root) {
  MPI_Comm made;
  MPI_Comm_split(comm, me % 3 == 2 && root % 2 ? MPI_UNDEFINED : me % 3, -me, &made);
  use(&made);
}
static void comm_split_type(MPI_Comm comm, int root) {
  (void)root;
  MPI_Comm made;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &made);
  use(&made);
}
/* The even ranks. */
static MPI_Group evens(MPI_Comm comm) {
  MPI_Group all, some;
  int range[1][3] = {{0, n - 1, 2}};
  MPI_Comm_group(comm, &all);
  MPI_Group_range_incl(all, 1, range, &some);
  MPI_Group_free(&all);
  return some;
}
static void comm_create(MPI_Comm comm, int root) {
  (void)root;
  MPI_Comm made;
  MPI_Group group = evens(comm);
  MPI_Comm_create(comm, group, &made);
  MPI_Group_free(&group);
  use(&made);
}
static void comm_create_group(MPI_Comm comm, int root) {
  MPI_Comm made;
  MPI_Group group = evens(comm);
  if (me % 2 == 0) {
    MPI_Comm_create_group(comm, group, root, &made);
    use(&made);
  }
  MPI_Group_free(&group);
}
#if MPI_VERSION >= 4
static void comm_create_from_group(MPI_Comm comm, int root) {
  (void)root;
  MPI_Comm made;
  MPI_Group group = evens(comm);
  if (me % 2 == 0) {
    MPI_Comm_create_from_group(group, "evens", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
    use(&made);
  }
  MPI_Group_free(&group);
}
#endif
static void comm_disconnect(MPI_Comm comm, int root) {
  (void)root;
  MPI_Comm made;
  MPI_Comm_dup(comm, &made);
  MPI_Comm_disconnect(&made);
}
static void cart_create(MPI_Comm comm, int root) {
  (void)root;
  int dims[2] = {0, 0}, periods[2] = {1, 0}, remain[2] = {0, 1};
  MPI_Comm made, rows;
  MPI_Dims_create(n, 2, dims);
  MPI_Cart_create(comm, 2, dims, periods, 0, &made);
  MPI_Cart_sub(made, remain, &rows);
  use(&rows);
  use(&made);
}
static void graph_create(MPI_Comm comm, int root) {
  (void)root;
  for (int r = 0; r < n; ++r) {
    to_counts[r] = 2 * (r + 1);
    from_counts[2 * r] = (r + 1) % n;
    from_counts[2 * r + 1] = (r + n - 1) % n;
  }
  MPI_Comm made;
  MPI_Graph_create(comm, n, to_counts, from_counts, 0, &made);
  use(&made);
}
static void dist_graph_create(MPI_Comm comm, int root) {
  (void)root;
  int destinations[1] = {(me + 1) % n}, degrees[1] = {1}, sources[1] = {me};
  MPI_Comm made;
  MPI_Dist_graph_create(comm, 1, sources, degrees, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
  use(&made);
}
static void dist_graph_create_adjacent(MPI_Comm comm, int root) {
  (void)root;
  MPI_Comm made = ring_of(comm);
  use(&made);
}

/* --- between groups: the lower half and the upper one --- */
static MPI_Comm halves(MPI_Comm comm, MPI_Comm* half) {
  MPI_Comm between_them;
  MPI_Comm_split(comm, me < n / 2, me, half);
  MPI_Intercomm_create(*half, 0, comm, me < n / 2 ? n / 2 : 0, kTag, &between_them);
  return between_them;
}
static void intercomm_create(MPI_Comm comm, int root) {
  (void)root;
  MPI_Comm half, both = halves(comm, &half);
  use(&half);
  use(&both);
}
static void intercomm_merge(MPI_Comm comm, int root) {
  (void)root;
  MPI_Comm half, both = halves(comm, &half), made;
  MPI_Intercomm_merge(both, me < n / 2, &made);
  use(&made);
  use(&half);
  use(&both);
}

struct sides {
  MPI_Comm comm, half;
  int low, rank, first,
      others; /* in the lower half; rank in the half; the other half's first rank and size */
};
static struct sides sides_of(MPI_Comm comm) {
  struct sides s;
  s.comm = halves(comm, &s.half);
  s.low = me < n / 2;
  s.rank = s.low ? me : me - n / 2;
  s.first = s.low ? n / 2 : 0;
  s.others = s.low ? n - n / 2 : n / 2;
  return s;
}
static void end_sides(struct sides* s) {
  MPI_Comm_free(&s->comm);
  MPI_Comm_free(&s->half);
}
/* The root is rank 0: the lower half's first. */
static int root_between(const struct sides* s) {
  return !s->low ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL;
}
static void inter_barrier(MPI_Comm comm, int root) {
  (void)root;
  struct sides s = sides_of(comm);
  FORMS(Barrier, barrier, s.comm);
  end_sides(&s);
}
static void inter_bcast(MPI_Comm comm, int root) {
  (void)root;
  struct sides s = sides_of(comm);
  if (me == 0) fill(in, 0, 0, count);
  FORMS(Bcast, bcast, in, count, MPI_INT, root_between(&s), s.comm);
  if (!s.low) check(in, 0, 0, count);
  end_sides(&s);
}
static void inter_gather(MPI_Comm comm, int root) {
  (void)root;
  struct sides s = sides_of(comm);
  fill(out, me, 0, count);
  FORMS(Gather, gather, out, count, MPI_INT, in, count, MPI_INT, root_between(&s), s.comm);
  for (int r = 0; r < s.others && me == 0; ++r) check(in + r * count, s.first + r, 0, count);
  end_sides(&s);
}
static void inter_scatter(MPI_Comm comm, int root) {
  (void)root;
  struct sides s = sides_of(comm);
  for (int r = 0; r < s.others && me == 0; ++r) fill(out + r * count, 0, r, count);
  FORMS(Scatter, scatter, out, count, MPI_INT, in, count, MPI_INT, root_between(&s), s.comm);
  if (!s.low) check(in, 0, s.rank, count);
  end_sides(&s);
}
static void inter_reduce(MPI_Comm comm, int root) {
  (void)root;
  struct sides s = sides_of(comm);
  fill(out, me, 0, count);
  FORMS(Reduce, reduce, out, in, count, MPI_INT, MPI_SUM, root_between(&s), s.comm);
  if (me == 0) check_sum(in, s.first, s.first + s.others - 1, 0, count);
  end_sides(&s);
}
static void inter_allreduce(MPI_Comm comm, int root) {
  (void)root;
  struct sides s = sides_of(comm);
  fill(out, me, 0, count);
  FORMS(Allreduce, allreduce, out, in, count, MPI_INT, MPI_SUM, s.comm);
  check_sum(in, s.first, s.first + s.others - 1, 0, count);
  end_sides(&s);
}
static void inter_allgather(MPI_Comm comm, int root) {
  (void)root;
  struct sides s = sides_of(comm);
  fill(out, me, 0, count);
  FORMS(Allgather, allgather, out, count, MPI_INT, in, count, MPI_INT, s.comm);
  for (int r = 0; r < s.others; ++r) check(in + r * count, s.first + r, 0, count);
  end_sides(&s);
}
static void inter_alltoall(MPI_Comm comm, int root) {
  (void)root;
  struct sides s = sides_of(comm);
  for (int r = 0; r < s.others; ++r) fill(out + r * count, me, r, count);
  FORMS(Alltoall, alltoall, out, count, MPI_INT, in, count, MPI_INT, s.comm);
  for (int r = 0; r < s.others; ++r) check(in + r * count, s.first + r, s.rank, count);
  end_sides(&s);
}

static const struct {
  const char* name;
  void (*run)(MPI_Comm, int);
  int forms; /* 3: also `I` and `_init` */
} kCalls[] = {{"Barrier", barrier, 3},
              {"Bcast", bcast, 3},
              {"Gather", gather, 3},
              {"Gatherv", gatherv, 3},
              {"Scatter", scatter, 3},
              {"Scatterv", scatterv, 3},
              {"Allgather", allgather, 3},
              {"Allgatherv", allgatherv, 3},
              {"Alltoall", alltoall, 3},
              {"Alltoallv", alltoallv, 3},
              {"Alltoallw", alltoallw, 3},
              {"Reduce", reduce, 3},
              {"Allreduce", allreduce, 3},
              {"Reduce_scatter_block", reduce_scatter_block, 3},
              {"Reduce_scatter", reduce_scatter, 3},
              {"Scan", scan, 3},
              {"Exscan", exscan, 3},
              {"Neighbor_allgather", neighbor_allgather, 3},
              {"Neighbor_allgatherv", neighbor_allgatherv, 3},
              {"Neighbor_alltoall", neighbor_alltoall, 3},
              {"Neighbor_alltoallv", neighbor_alltoallv, 3},
              {"Neighbor_alltoallw", neighbor_alltoallw, 3},
              {"Comm_dup", comm_dup, 1},
              {"Comm_dup_with_info", comm_dup_with_info, 1},
              {"Comm_idup", comm_idup, 1},
#if MPI_VERSION >= 4
              {"Comm_idup_with_info", comm_idup_with_info, 1},
              {"Comm_create_from_group", comm_create_from_group, 1},
#endif
              {"Comm_split", comm_split, 1},
              {"Comm_split_type", comm_split_type, 1},
              {"Comm_create", comm_create, 1},
              {"Comm_create_group", comm_create_group, 1},
              {"Comm_disconnect", comm_disconnect, 1},
              {"Cart_create", cart_create, 1},
              {"Graph_create", graph_create, 1},
              {"Dist_graph_create", dist_graph_create, 1},
              {"Dist_graph_create_adjacent", dist_graph_create_adjacent, 1},
              {"Intercomm_create", intercomm_create, 1},
              {"Intercomm_merge", intercomm_merge, 1},
              {"inter_Barrier", inter_barrier, 3},
              {"inter_Bcast", inter_bcast, 3},
              {"inter_Gather", inter_gather, 3},
              {"inter_Scatter", inter_scatter, 3},
              {"inter_Reduce", inter_reduce, 3},
              {"inter_Allreduce", inter_allreduce, 3},
              {"inter_Allgather", inter_allgather, 3},
              {"inter_Alltoall", inter_alltoall, 3}};
enum { kKinds = sizeof kCalls / sizeof *kCalls };

/* --- what the ranks do around a call --- */
static int* mail;
static void talk(int distance, int tag) {
  const int length = count > 0 ? count : 1;
  MPI_Sendrecv(out, length, MPI_INT, (me + distance) % n, tag, mail, length, MPI_INT,
               (me + n - distance % n) % n, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void perform(int which, const char* manner) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int tag = kTag + 3 * turn; /* a rank may be a call ahead */
  const int root = turn % n, crossed = strcmp(manner, "crossed") == 0,
            pending = strcmp(manner, "pending") == 0, held = strcmp(manner, "held") == 0;
  if (strcmp(manner, "skewed") == 0) nplus1_compute(20e-6 * ((me * 7 + turn * 3) % n));
  if (crossed) {
    MPI_Irecv(mail, count + 1, MPI_INT, (me + n - turn % n) % n, tag, MPI_COMM_WORLD, &request);
    MPI_Send(mail + count + 1, count + 1, MPI_INT, (me + turn) % n, tag, MPI_COMM_WORLD);
  }
  if (held && me == (turn + 1) % n)
    MPI_Irecv(mail, count + 1, MPI_INT, turn % n, tag, MPI_COMM_WORLD, &request);
  if (held && me == turn % n)
    MPI_Ssend(mail + count + 1, count + 1, MPI_INT, (turn + 1) % n, tag, MPI_COMM_WORLD);
  if (pending) MPI_Irecv(mail, count + 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
  kCalls[which].run(MPI_COMM_WORLD, strncmp(kCalls[which].name, "inter_", 6) == 0 ? 0 : root);
  if (pending) MPI_Send(mail + count + 1, count + 1, MPI_INT, (me + turn) % n, tag, MPI_COMM_WORLD);
  if (strcmp(manner, "chatty") == 0) {
    if (me % 2 == turn % 2) nplus1_compute(3e-6);
    talk(1, tag + 1);
    talk(n - 1, tag + 2);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  ++turn;
}

static const char* name_of(int which, enum form f) {
  static char name[64];
  const char* plain = kCalls[which].name;
  const char* prefix = strncmp(plain, "inter_", 6) == 0 ? "inter_" : "";
  const char* rest = plain + strlen(prefix);
  if (f == kImmediate)
    snprintf(name, sizeof name, "%sI%c%s", prefix, rest[0] - 'A' + 'a', rest + 1);
  else
    snprintf(name, sizeof name, "%s%s", plain, f == kPersistent ? "_init" : "");
  return name;
}
static int asked_for(const char* list, const char* name) {
  if (strcmp(list, "all") == 0) return 1;
  const size_t length = strlen(name);
  for (const char* at = list; (at = strstr(at, name)) != NULL; at += length)
    if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return 1;
  return 0;
}

static void allocate(int largest) {
  const size_t elements = ((size_t)largest / sizeof(int) + 2) * (size_t)(2 * n + 4);
  in = calloc(elements, sizeof *in);
  out = calloc(elements, sizeof *out);
  mail = calloc(2 * (elements + 2), sizeof *mail);
  to_counts = calloc((size_t)n * 2 + 2, sizeof *to_counts);
  to_places = calloc((size_t)n * 2 + 2, sizeof *to_places);
  from_counts = calloc((size_t)n * 2 + 2, sizeof *from_counts);
  from_places = calloc((size_t)n * 2 + 2, sizeof *from_places);
  types = malloc(((size_t)n + 2) * sizeof *types);
  for (int i = 0; i < n + 2; ++i) types[i] = MPI_INT;
}

static void perform_all(const char* list, const char* sizes, char** manners, int kinds_of_manners) {
  static char* alone = "alone";
  for (int which = 0; which < kKinds; ++which)
    for (int f = 0; f < kCalls[which].forms && f < kForms; ++f) {
      form = (enum form)f;
      call_name = name_of(which, form);
      if (!asked_for(list, call_name)) continue;
      for (const char* s = sizes; s != NULL; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL)
        for (int m = 0; m < (kinds_of_manners > 0 ? kinds_of_manners : 1); ++m) {
          bytes = atoi(s);
          count = bytes / (int)sizeof(int);
          memset(in, 255, ((size_t)count + 2) * (size_t)(n + 1) * sizeof *in);
          perform(which, kinds_of_manners > 0 ? manners[m] : alone);
        }
    }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (argc < 3) return 1;
  int largest = 0;
  for (const char* s = argv[2]; s != NULL; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL)
    if (atoi(s) > largest) largest = atoi(s);
  neighbors = n > 3 ? kMostNeighbors : 1;
  allocate(largest);
  perform_all(argv[1], argv[2], argv + 3, argc - 3);
  printf("%d %.12f\n", me, MPI_Wtime());
  MPI_Finalize();
  return 0;
}
