/* A datatype with an attribute, used by calls of which a request outlives the program's handle: prints when the program's
 * functions are called to copy and to delete the attribute. */
#include <mpi.h>
#include <stdio.h>

static int rank, copies, deletes;

static int copied(MPI_Datatype type, int key, void* more, void* in, void* out, int* flag) {
  (void)type, (void)key, (void)more;
  ++copies;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int deleted(MPI_Datatype type, int key, void* value, void* more) {
  (void)type, (void)key, (void)value, (void)more;
  ++deletes;
  return MPI_SUCCESS;
}

static void say(const char* when) {
  printf("rank %d, %s: %d copies, %d deletes\n", rank, when, copies, deletes);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks, key;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Type_create_keyval(copied, deleted, &key, NULL);
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  for (int turn = 0; turn < 3; ++turn) {
    int out[12] = {0}, in[12] = {0};
    MPI_Datatype odd;
    MPI_Type_vector(4, 1, 3, MPI_INT, &odd);
    MPI_Type_commit(&odd);
    MPI_Type_set_attr(odd, key, &key);
    MPI_Request pair[2], any;
    MPI_Status statuses[2];
    MPI_Send_init(out, 1, odd, right, 0, MPI_COMM_WORLD, &pair[0]);
    MPI_Recv_init(in, 1, odd, turn == 2 ? MPI_ANY_SOURCE : left, 0, MPI_COMM_WORLD, &pair[1]);
    for (int i = 0; i < 4; ++i) out[3 * i] = 1000 * turn + 10 * rank + i;
    MPI_Startall(2, pair);
    MPI_Waitall(2, pair, statuses);
    say("persistent");
    MPI_Irecv(in, 1, odd, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &any);
    if (turn == 1) MPI_Type_free(&odd);
    if (turn == 1) say("freed while requests need it");
    MPI_Send(&out[0], 1, MPI_INT, right, 1, MPI_COMM_WORLD);
    MPI_Wait(&any, MPI_STATUS_IGNORE);
    say("received from anybody");
    if (turn == 0) MPI_Type_free(&odd);
    if (turn == 0) say("freed while persistent requests need it");
    MPI_Startall(2, pair);
    MPI_Waitall(2, pair, statuses);
    MPI_Request_free(&pair[0]);
    MPI_Request_free(&pair[1]);
    say("no request is left");
    if (turn == 2) MPI_Type_free(&odd);
    say("end");
    printf("rank %d: %d %d %d %d\n", rank, in[0], in[3], in[6], in[9]);
  }
  MPI_Finalize();
  return 0;
}
