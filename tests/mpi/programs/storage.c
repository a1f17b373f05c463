// storage BYTES...: every rank writes BYTES behind those of the rank before it, all at one time, and reads them again.
// Each says "BYTES write|read RANK BEGIN END", in seconds of MPI_Wtime.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static MPI_File file;

/// All go on at one virtual time, on networks without overheads: a barrier's members need not. Rank 0 tells them,
/// itself too.
static void meet(void) {
  MPI_Request told;
  MPI_Isend(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &told);
  for (int r = 0; rank == 0 && r < ranks; ++r)
    MPI_Recv(NULL, 0, MPI_BYTE, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Request telling;
  for (int r = 0; rank == 0 && r < ranks; ++r) {
    MPI_Isend(NULL, 0, MPI_BYTE, r, 1, MPI_COMM_WORLD, &telling);
    MPI_Request_free(&telling);
  }
  MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&told, MPI_STATUS_IGNORE);
}

typedef int access_at(MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Status*);

static int write_at(MPI_File f, MPI_Offset at, void* data, int bytes, MPI_Datatype type, MPI_Status* status) {
  return MPI_File_write_at(f, at, data, bytes, type, status);
}

static void timed(const char* name, access_at* access, void* data, int bytes) {
  MPI_Status status;
  int moved = 0;
  meet();
  const double begin = MPI_Wtime();
  access(file, (MPI_Offset)rank * bytes, data, bytes, MPI_BYTE, &status);
  const double end = MPI_Wtime();
  MPI_Get_count(&status, MPI_BYTE, &moved);
  if (moved != bytes) MPI_Abort(MPI_COMM_WORLD, 1);
  printf("%d %s %d %.12f %.12f\n", bytes, name, rank, begin, end);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_File_open(MPI_COMM_WORLD, "storage.dat", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  for (int i = 1; i < argc; ++i) {
    const int bytes = atoi(argv[i]);
    char *mine = malloc((size_t)bytes + 1), *again = calloc((size_t)bytes + 1, 1);
    memset(mine, 'a' + rank, (size_t)bytes);
    timed("write", write_at, mine, bytes);
    timed("read", MPI_File_read_at, again, bytes);
    if (memcmp(mine, again, (size_t)bytes) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
    free(mine);
    free(again);
  }
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
