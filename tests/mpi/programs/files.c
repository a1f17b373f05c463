// files SCENARIO: files whose times follow from a network of 1 ms and 1 MB/s and a storage of 1 ms, 1 MB/s for each client,
// and two servers with 1 MB/s each and stripes of 1000 bytes. Each rank says how long its calls took, in microseconds of
// MPI_Wtime: "RANK CALL MICROSECONDS". Ends with 1 if what was moved is wrong.
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/mpi/programs/timed.h"

static MPI_File file;
static const char* const kName = "file.dat";

enum { kBytes = 1000 };
static char mine[4 * kBytes], got[4 * kBytes];

/// In virtual time; at least 1000.
static void pause_for(int microseconds) {
  static char to_me[100000], from_me[100000];
  MPI_Sendrecv(from_me, microseconds - 1000, MPI_CHAR, rank, 0, to_me, microseconds - 1000, MPI_CHAR, rank, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void open_on(MPI_Comm comm, const char* name) {
  TIMED("open", MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
}

static int count_of(MPI_Status* status) {
  int count = -1;
  MPI_Get_count(status, MPI_CHAR, &count);
  return count;
}

static void alone(void) {
  MPI_Status status;
  MPI_Offset size;
  char name[32];
  snprintf(name, sizeof(name), "file-%d.dat", rank);
  open_on(MPI_COMM_SELF, name);
  if (rank == 0) {
    TIMED("write", MPI_File_write_at(file, 0, mine, kBytes, MPI_CHAR, &status));
    expect(count_of(&status) == kBytes, "written");
    TIMED("read", MPI_File_read_at(file, 0, got, kBytes, MPI_CHAR, MPI_STATUS_IGNORE));
    expect(memcmp(mine, got, kBytes) == 0, "read");
    TIMED("end", MPI_File_read_at(file, kBytes / 2, got, kBytes, MPI_CHAR, &status));
    expect(count_of(&status) == kBytes / 2, "read at the end");
    TIMED("beyond", MPI_File_read_at(file, 2 * kBytes, got, kBytes, MPI_CHAR, &status));
    expect(count_of(&status) == 0, "read beyond the end");
    TIMED("nothing", MPI_File_write(file, mine, 0, MPI_CHAR, &status));
    TIMED("wide", MPI_File_write(file, mine, 4 * kBytes, MPI_CHAR, &status));
    TIMED("size", MPI_File_get_size(file, &size));
    expect(size == 4 * kBytes, "size");
    TIMED("sync", MPI_File_sync(file));
  }
  TIMED("close", MPI_File_close(&file));
  if (rank == 0) TIMED("delete", MPI_File_delete(name, MPI_INFO_NULL));
}

static void together(void) {
  open_on(MPI_COMM_WORLD, kName);
  TIMED("write", MPI_File_write_at(file, rank * kBytes, mine, kBytes, MPI_CHAR, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_File_read_at(file, 0, got, ranks * kBytes, MPI_CHAR, MPI_STATUS_IGNORE);
    for (int r = 0; r < ranks; ++r) expect(got[r * kBytes] == 'a' + r, "what others wrote");
  }
  MPI_File_close(&file);
}

static void all(void) {
  MPI_Status status;
  open_on(MPI_COMM_WORLD, kName);
  if (rank == 1) pause_for(5000);
  TIMED("write_all", MPI_File_write_at_all(file, rank * kBytes, mine, kBytes, MPI_CHAR, MPI_STATUS_IGNORE));
  MPI_File_seek(file, (1 - rank) * kBytes, MPI_SEEK_SET);
  MPI_Barrier(MPI_COMM_WORLD);
  TIMED("read_all", MPI_File_read_all(file, got, 4 * kBytes, MPI_CHAR, &status));
  expect(count_of(&status) > 0 && got[0] == 'a' + 1 - rank,
         "what the other wrote");  // ROMIO counts what was asked for
  MPI_File_close(&file);
}

static void turns(void) {
  open_on(MPI_COMM_WORLD, kName);
  pause_for(1000 * (ranks - rank));
  TIMED("write_shared", MPI_File_write_shared(file, mine, kBytes / 2, MPI_CHAR, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_File_read_at(file, 0, got, ranks * kBytes / 2, MPI_CHAR, MPI_STATUS_IGNORE);
    for (int r = 0; r < ranks; ++r)
      expect(got[r * kBytes / 2] == 'a' + ranks - 1 - r, "the order of virtual time");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  TIMED("seek_shared", MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  MPI_Offset at = 1;
  TIMED("position", MPI_File_get_position_shared(file, &at));
  expect(at == 0, "position");
  MPI_Barrier(MPI_COMM_WORLD);
  pause_for(20000 * (1 + rank));
  TIMED("read_shared", MPI_File_read_shared(file, got, kBytes / 2, MPI_CHAR, MPI_STATUS_IGNORE));
  expect(got[0] == 'a' + ranks - 1 - rank, "my turn's part");
  MPI_File_close(&file);
}

static void ordered(void) {
  open_on(MPI_COMM_WORLD, kName);
  for (int i = 0; i < 2; ++i)
    TIMED("write_ordered", MPI_File_write_ordered(file, mine, kBytes, MPI_CHAR, MPI_STATUS_IGNORE));
  MPI_File_seek_shared(file, ranks * kBytes, MPI_SEEK_SET);
  TIMED("begin", MPI_File_read_ordered_begin(file, got, kBytes, MPI_CHAR));
  MPI_Status status;
  TIMED("end", MPI_File_read_ordered_end(file, got, &status));
  expect(count_of(&status) == kBytes && got[0] == 'a' + rank, "what I wrote");
  MPI_File_close(&file);
}

static void requests(void) {
  MPI_Request request[3];
  MPI_Status status[3];
  int flag = 0, tests = 0;
  open_on(MPI_COMM_WORLD, kName);
  TIMED("iwrite", MPI_File_iwrite_at(file, 2 * rank * kBytes, mine, kBytes, MPI_CHAR, &request[0]));
  TIMED("iwrite", MPI_File_iwrite_at(file, (2 * rank + 1) * kBytes, mine, kBytes, MPI_CHAR, &request[1]));
  MPI_Isend(mine, 0, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request[2]);
  TIMED("waitall", MPI_Waitall(3, request, status));
  expect(count_of(&status[0]) == kBytes && count_of(&status[1]) == kBytes, "written");
  TIMED("iread", MPI_File_iread_at(file, 2 * rank * kBytes, got, 2 * kBytes, MPI_CHAR, &request[0]));
  for (; !flag; ++tests) MPI_Test(&request[0], &flag, &status[0]);
  expect(count_of(&status[0]) == 2 * kBytes && got[kBytes] == 'a' + rank, "read");
  MPI_File_seek(file, 2 * rank * kBytes, MPI_SEEK_SET);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) pause_for(4000);
  memset(got, 0, sizeof(got));
  TIMED("iread_all", MPI_File_iread_all(file, got, kBytes, MPI_CHAR, &request[0]));
  if (rank == 1) pause_for(2000);
  TIMED("wait", MPI_Wait(&request[0], &status[0]));
  expect(count_of(&status[0]) == kBytes,
         "read together");  // but MPICH 4.0.2 may bring another's part, bare as well
  TIMED("iwrite_shared", MPI_File_iwrite_shared(file, mine, 10, MPI_CHAR, &request[0]));
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

static void split(void) {
  MPI_Status status;
  open_on(MPI_COMM_WORLD, kName);
  if (rank == 0) pause_for(3000);
  TIMED("begin", MPI_File_write_at_all_begin(file, rank * kBytes, mine, kBytes, MPI_CHAR));
  pause_for(1500);
  TIMED("end", MPI_File_write_at_all_end(file, mine, &status));
  expect(count_of(&status) == kBytes, "written");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_seek(file, (1 - rank) * kBytes, MPI_SEEK_SET);
  MPI_File_read_all_begin(file, got, kBytes, MPI_CHAR);
  TIMED("read_end", MPI_File_read_all_end(file, got, &status));
  expect(count_of(&status) == kBytes && got[0] == 'a' + 1 - rank, "what the other wrote");
  MPI_File_close(&file);
}

static void views(void) {
  MPI_Datatype pattern, spread;
  MPI_Type_vector(10, 50, 50 * ranks, MPI_CHAR, &spread);
  MPI_Type_create_resized(spread, 0, 500 * ranks, &pattern);
  MPI_Type_commit(&pattern);
  open_on(MPI_COMM_WORLD, kName);
  if (rank == 1) pause_for(2000);
  TIMED("set_view", MPI_File_set_view(file, 50 * rank, MPI_CHAR, pattern, "native", MPI_INFO_NULL));
  TIMED("write_all", MPI_File_write_all(file, mine, kBytes, MPI_CHAR, MPI_STATUS_IGNORE));
  TIMED("read", MPI_File_read_at(file, 500, got, 100, MPI_CHAR, MPI_STATUS_IGNORE));
  expect(got[0] == 'a' + rank && got[99] == 'a' + rank, "my own part");
  TIMED("set_view", MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  TIMED("read", MPI_File_read_at(file, 0, got, 50, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < 200; ++i) expect(got[i] == 'a' + i / 50 % ranks, "interleaved parts");
  TIMED("set_size", MPI_File_set_size(file, 10));
  TIMED("preallocate", MPI_File_preallocate(file, 100));
  MPI_File_set_atomicity(file, 1);
  MPI_File_set_info(file, MPI_INFO_NULL);
  MPI_File_close(&file);
  MPI_Type_free(&pattern);
  MPI_Type_free(&spread);
}

/// By the C library and the kernel, beside MPI-IO.
static void own(void) {
  static char much[5000];
  char name[32], other[32];
  snprintf(name, sizeof(name), "own-%d.dat", rank);
  snprintf(other, sizeof(other), "file-%d.dat", rank);
  open_on(MPI_COMM_SELF, other);
  MPI_File_write_at(file, 0, mine, kBytes, MPI_CHAR, MPI_STATUS_IGNORE);
  const int own_file = open(name, O_CREAT | O_RDWR, 0600);
  for (int i = 0; i < 3; ++i) expect(write(own_file, much, sizeof(much)) == sizeof(much), "write");
  for (int i = 0; i < 2; ++i) expect(pread(own_file, much, sizeof(much), 0) == sizeof(much), "pread");
  close(own_file);
  unlink(name);
  MPI_Request request;
  MPI_File_iwrite_at(file, kBytes, mine, 3 * kBytes, MPI_CHAR, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_File_delete(other, MPI_INFO_NULL);
}

static void said(const char* what, int code) {
  int class = 0;
  MPI_Error_class(code, &class);
  printf("%d %s %d\n", rank, what, class);
}

/// Not all ranks make the same mistakes: what MPI refuses of one nobody waits for.
static void errors(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_File other = MPI_FILE_NULL;
  MPI_Datatype open_type;
  MPI_Type_contiguous(3, MPI_INT, &open_type);
  said("no file", MPI_File_open(MPI_COMM_WORLD, "there/is/none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  said("mode", MPI_File_open(MPI_COMM_WORLD, kName, 0, MPI_INFO_NULL, &file));
  said("mode", MPI_File_open(MPI_COMM_WORLD, kName, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  MPI_File_open(MPI_COMM_WORLD, kName, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  if (rank == 1) {
    said("access", MPI_File_read_at(file, 0, got, 10, MPI_CHAR, MPI_STATUS_IGNORE));
    said("access of all", MPI_File_read_at_all(file, 0, got, 10, MPI_CHAR, MPI_STATUS_IGNORE));
    said("count", MPI_File_write_all(file, mine, -1, MPI_CHAR, MPI_STATUS_IGNORE));
    said("place", MPI_File_write_at_all(file, -5, mine, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    said("type", MPI_File_write_at_all(file, 0, mine, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE));
    said("type", MPI_File_write_at_all(file, 0, mine, 1, open_type, MPI_STATUS_IGNORE));
    said("turn", MPI_File_read_shared(file, got, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    said("start", MPI_File_iread_at(file, 0, got, 1, MPI_CHAR, &request));
    said("size", MPI_File_set_size(file, -1));
    said("view", MPI_File_set_view(file, -1, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    said("end", MPI_File_write_all_end(file, mine, MPI_STATUS_IGNORE));
    said("closed", MPI_File_write_at(other, 0, mine, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    said("delete", MPI_File_delete("there is none", MPI_INFO_NULL));
  }
  said("fine", MPI_File_write_at_all(file, 0, mine, 10, MPI_CHAR, MPI_STATUS_IGNORE));
  MPI_File_close(&file);
  said("of one", MPI_File_open(MPI_COMM_SELF, "there is none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  said("fine", MPI_File_open(MPI_COMM_WORLD, kName, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  said("read only", MPI_File_write_all(file, mine, 10, MPI_CHAR, MPI_STATUS_IGNORE));
  said("sync", MPI_File_sync(file));
  said("fine", MPI_File_read_all(file, got, 10, MPI_CHAR, MPI_STATUS_IGNORE));
  MPI_File_close(&file);
  MPI_Type_free(&open_type);
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)(void);
  } scenarios[] = {{"alone", alone}, {"together", together}, {"all", all},
                   {"turns", turns}, {"ordered", ordered},   {"requests", requests},
                   {"split", split}, {"views", views},       {"errors", errors},
                   {"own", own}};
  setvbuf(stdout, NULL, _IOLBF, 0);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  memset(mine, 'a' + rank, sizeof(mine));
  for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); ++i)
    if (argc > 1 && strcmp(argv[1], scenarios[i].name) == 0) scenarios[i].run();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(kName);
  MPI_Finalize();
  return wrong;
}
