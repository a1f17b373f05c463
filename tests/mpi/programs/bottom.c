/* MPI_BOTTOM with displacements that are addresses, of types of MPI's own, in every form that has displacements. Prints each
   call's class of error and what came. Linked without -pie: addresses of its variables fit into an int. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 16, kBytes = sizeof(int) };

static int out[kMost], in[kMost];
static int rank, ranks;

static void told(const char* name, int error, MPI_Request* request) {
  int kind = MPI_SUCCESS;
  if (error == MPI_SUCCESS && request != NULL) error = MPI_Wait(request, MPI_STATUS_IGNORE);
  if (error != MPI_SUCCESS) MPI_Error_class(error, &kind);
  char line[512];
  int length = sprintf(line, "%d %s: class %d,", rank, name, kind);
  for (int i = 0; i < ranks; ++i) length += sprintf(line + length, " %d", in[i]);
  sprintf(line + length, "\n");
  fputs(line, stdout); /* at once, or the ranks' lines mix */
  memset(in, -1, sizeof in);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int everybody[kMost], ones[kMost], fours[kMost], int_from[kMost], int_to[kMost];
  MPI_Aint from[kMost], to[kMost];
  MPI_Datatype types[kMost];
  MPI_Comm near;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > kMost) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 0; i < ranks; ++i) {
    everybody[i] = i, ones[i] = 1, fours[i] = kBytes, types[i] = MPI_INT;
    out[i] = 100 * rank + i;
    MPI_Get_address(&out[i], &from[i]);
    MPI_Get_address(&in[i], &to[i]);
    int_from[i] = (int)from[i], int_to[i] = (int)to[i];
    if (int_from[i] != from[i] || int_to[i] != to[i]) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  memset(in, -1, sizeof in);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, everybody, ones, ranks, everybody, ones,
                                 MPI_INFO_NULL, 0, &near);

  told("Neighbor_alltoallw",
       MPI_Neighbor_alltoallw(MPI_BOTTOM, ones, from, types, MPI_BOTTOM, ones, to, types, near), NULL);
  told("Ineighbor_alltoallw",
       MPI_Ineighbor_alltoallw(MPI_BOTTOM, ones, from, types, MPI_BOTTOM, ones, to, types, near, &request),
       &request);
  told("Neighbor_alltoallv",
       MPI_Neighbor_alltoallv(MPI_BOTTOM, fours, int_from, MPI_BYTE, MPI_BOTTOM, fours, int_to, MPI_BYTE,
                              near),
       NULL);
  told("Ineighbor_alltoallv",
       MPI_Ineighbor_alltoallv(MPI_BOTTOM, fours, int_from, MPI_BYTE, MPI_BOTTOM, fours, int_to, MPI_BYTE,
                               near, &request),
       &request);
  told("Neighbor_allgatherv",
       MPI_Neighbor_allgatherv(&out[1], 1, MPI_INT, MPI_BOTTOM, fours, int_to, MPI_BYTE, near), NULL);
  told("Allgatherv", MPI_Allgatherv(&out[1], 1, MPI_INT, MPI_BOTTOM, fours, int_to, MPI_BYTE, MPI_COMM_WORLD),
       NULL);
  told("Iallgatherv",
       MPI_Iallgatherv(&out[1], 1, MPI_INT, MPI_BOTTOM, fours, int_to, MPI_BYTE, MPI_COMM_WORLD, &request),
       &request);
  told("Gatherv", MPI_Gatherv(&out[1], 1, MPI_INT, MPI_BOTTOM, fours, int_to, MPI_BYTE, 0, MPI_COMM_WORLD),
       NULL);
  told("Igatherv",
       MPI_Igatherv(&out[1], 1, MPI_INT, MPI_BOTTOM, fours, int_to, MPI_BYTE, ranks - 1, MPI_COMM_WORLD,
                    &request),
       &request);
  told("Scatterv", MPI_Scatterv(MPI_BOTTOM, fours, int_from, MPI_BYTE, &in[1], 1, MPI_INT, 0, MPI_COMM_WORLD),
       NULL);
  told("Iscatterv",
       MPI_Iscatterv(MPI_BOTTOM, fours, int_from, MPI_BYTE, &in[1], 1, MPI_INT, ranks - 1, MPI_COMM_WORLD,
                     &request),
       &request);
  told("Alltoallv",
       MPI_Alltoallv(MPI_BOTTOM, fours, int_from, MPI_BYTE, MPI_BOTTOM, fours, int_to, MPI_BYTE,
                     MPI_COMM_WORLD),
       NULL);
  told("Ialltoallv",
       MPI_Ialltoallv(MPI_BOTTOM, fours, int_from, MPI_BYTE, MPI_BOTTOM, fours, int_to, MPI_BYTE,
                      MPI_COMM_WORLD, &request),
       &request);
  told("Alltoallw",
       MPI_Alltoallw(MPI_BOTTOM, ones, int_from, types, MPI_BOTTOM, ones, int_to, types, MPI_COMM_WORLD),
       NULL);
  told("Ialltoallw",
       MPI_Ialltoallw(MPI_BOTTOM, ones, int_from, types, MPI_BOTTOM, ones, int_to, types, MPI_COMM_WORLD,
                      &request),
       &request);
#if MPI_VERSION >= 4
  MPI_Count big_fours[kMost];
  for (int i = 0; i < ranks; ++i) big_fours[i] = kBytes;
  told("Neighbor_alltoallv_c",
       MPI_Neighbor_alltoallv_c(MPI_BOTTOM, big_fours, from, MPI_BYTE, MPI_BOTTOM, big_fours, to, MPI_BYTE,
                                near),
       NULL);
  told("Allgatherv_c",
       MPI_Allgatherv_c(&out[1], 1, MPI_INT, MPI_BOTTOM, big_fours, to, MPI_BYTE, MPI_COMM_WORLD), NULL);
  told("Gatherv_c",
       MPI_Gatherv_c(&out[1], 1, MPI_INT, MPI_BOTTOM, big_fours, to, MPI_BYTE, 0, MPI_COMM_WORLD), NULL);
  told("Scatterv_c",
       MPI_Scatterv_c(MPI_BOTTOM, big_fours, from, MPI_BYTE, &in[1], 1, MPI_INT, 0, MPI_COMM_WORLD), NULL);
  MPI_Neighbor_alltoallw_init(MPI_BOTTOM, ones, from, types, MPI_BOTTOM, ones, to, types, near, MPI_INFO_NULL,
                              &request);
  told("Neighbor_alltoallw_init", MPI_Start(&request), &request);
  MPI_Request_free(&request);
#endif
  MPI_Comm_free(&near);
  MPI_Finalize();
  return 0;
}
