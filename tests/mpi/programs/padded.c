/* Arrays of a struct that is padded at its end, 3,000 elements (36 KB: MPI sends them in pieces), by every way to send: prints
 * for each call whether it failed, and a sum of what arrived, padding included. (MPI_Sendrecv_replace is left out: MPICH packs
 * such elements, and cannot receive them.) */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  double weight;
  int id;
} Particle;

enum { kElements = 3000, kMost = 8 };

static int rank, ranks, right, left;
static MPI_Datatype type;
static MPI_Op combine;
static Particle *in, *out;
static int counts[kMost], places[kMost], byte_places[kMost];
static MPI_Datatype types[kMost];

static void combined(void* from, void* into, int* count, MPI_Datatype* unused) {
  (void)unused;
  for (int i = 0; i < *count; ++i) {
    ((Particle*)into)[i].weight += ((Particle*)from)[i].weight;
    ((Particle*)into)[i].id ^= ((Particle*)from)[i].id;
  }
}

static int both(MPI_Request* requests) {
  MPI_Status statuses[2];
  return MPI_Waitall(2, requests, statuses);
}

static int message(int how) {
  const int n = kElements;
  const MPI_Comm world = MPI_COMM_WORLD;
  MPI_Request requests[2];
  int code = 0;
  switch (how) {
    case 0:
      return MPI_Sendrecv(out, n, type, right, 0, in, n, type, left, 0, world, MPI_STATUS_IGNORE);
    case 1:
      MPI_Irecv(in, n, type, left, 0, world, &requests[0]);
      MPI_Isend(out, n, type, right, 0, world, &requests[1]);
      return both(requests);
    case 2:
      MPI_Irecv(in, n, type, MPI_ANY_SOURCE, 0, world, &requests[0]);
      code = MPI_Send(out, n, type, right, 0, world);
      return code | MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    case 3:
      MPI_Irecv(in, n, type, left, 0, world, &requests[0]);
      code = MPI_Ssend(out, n, type, right, 0, world);
      return code | MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    default:
      MPI_Recv_init(in, n, type, left, 0, world, &requests[0]);
      MPI_Send_init(out, n, type, right, 0, world, &requests[1]);
      MPI_Startall(2, requests);
      code = both(requests);
      MPI_Request_free(&requests[0]);
      MPI_Request_free(&requests[1]);
      return code;
  }
}

static int collective(int how) {
  const int n = kElements;
  const MPI_Comm world = MPI_COMM_WORLD;
  MPI_Request request;
  int code = 0;
  switch (how) {
    case 5:
      return MPI_Bcast(rank == 0 ? out : in, n, type, 0, world);
    case 6:
      return MPI_Gather(out, n, type, in, n, type, 1, world);
    case 7:
      return MPI_Allgather(out, n, type, in, n, type, world);
    case 8:
      return MPI_Alltoall(out, n, type, in, n, type, world);
    case 9:
      return MPI_Alltoallv(out, counts, places, type, in, counts, places, type, world);
    case 10:
      return MPI_Alltoallw(out, counts, byte_places, types, in, counts, byte_places, types, world);
    case 11:
      return MPI_Gatherv(out, n, type, in, counts, places, type, 0, world);
    case 12:
      return MPI_Scatterv(out, counts, places, type, in, n, type, 0, world);
    case 13:
      return MPI_Allgatherv(out, n, type, in, counts, places, type, world);
    case 14:
      return MPI_Reduce(out, in, n, type, combine, 0, world);
    case 15:
      return MPI_Allreduce(out, in, n, type, combine, world);
    case 16:
      return MPI_Scan(out, in, n, type, combine, world);
    case 17:
      return MPI_Exscan(out, in, n, type, combine, world);
    case 18:
      return MPI_Reduce_scatter_block(out, in, n, type, combine, world);
    case 19:
      code = MPI_Ibcast(rank == 0 ? out : in, n, type, 0, world, &request);
      return code | MPI_Wait(&request, MPI_STATUS_IGNORE);
    default:
      code = MPI_Ialltoall(out, n, type, in, n, type, world, &request);
      return code | MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  right = (rank + 1) % ranks;
  left = (rank + ranks - 1) % ranks;
  MPI_Datatype elements[] = {MPI_DOUBLE, MPI_INT}, tight;
  const int lengths[] = {1, 1};
  const MPI_Aint offsets[] = {0, 8};
  MPI_Type_create_struct(2, lengths, offsets, elements, &tight);
  MPI_Type_create_resized(tight, 0, sizeof(Particle), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&tight);
  MPI_Op_create(combined, 1, &combine);
  for (int i = 0; i < ranks && i < kMost; ++i) {
    counts[i] = kElements;
    places[i] = kElements * i;
    byte_places[i] = places[i] * (int)sizeof(Particle);
    types[i] = type;
  }
  const int all = kElements * ranks;
  in = calloc((size_t)all, sizeof(Particle));
  out = calloc((size_t)all, sizeof(Particle));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int how = 0; how < 21; ++how) {
    for (int i = 0; i < all; ++i) {
      out[i].weight = i + 1000. * rank + how;
      out[i].id = 3 * i + rank;
      in[i].weight = in[i].id = -1;
    }
    const int code = how < 5 ? message(how) : collective(how);
    unsigned long sum = 0;
    const unsigned char* bytes = (const unsigned char*)in;
    for (size_t i = 0; i < (size_t)all * sizeof(Particle); ++i) sum = 31 * sum + bytes[i];
    printf("rank %d, call %d: %s, %lx\n", rank, how, code == MPI_SUCCESS ? "fine" : "failed", sum);
    fflush(stdout);
  }
  MPI_Op_free(&combine);
  MPI_Type_free(&type);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
