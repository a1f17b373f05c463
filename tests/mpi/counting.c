/* Preloaded behind a tuned library: what reaches the MPI library by these names, printed by each rank at the
 * end. */
#include <mpi.h>
#include <stdio.h>

static int allreduces, reduces, bcasts, scans, exscans;

int MPI_Allreduce(const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  ++allreduces;
  return PMPI_Allreduce(s, r, n, t, op, c);
}
int MPI_Reduce(const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c) {
  ++reduces;
  return PMPI_Reduce(s, r, n, t, op, root, c);
}
int MPI_Bcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm c) {
  ++bcasts;
  return PMPI_Bcast(b, n, t, root, c);
}
int MPI_Scan(const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  ++scans;
  return PMPI_Scan(s, r, n, t, op, c);
}
int MPI_Exscan(const void* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  ++exscans;
  return PMPI_Exscan(s, r, n, t, op, c);
}

__attribute__((destructor)) static void report(void) {
  if (allreduces + reduces + bcasts + scans + exscans == 0) return; /* no rank: env, for instance */
  printf("Allreduce %d Reduce %d Bcast %d Scan %d Exscan %d\n", allreduces, reduces, bcasts, scans, exscans);
}
