/* Every way of sending, with payloads that recording_test.py computes for itself: byte i of a message with
 * tag T is (7 T + 13 i) mod 251. A line of the form SEND(tag) marks the call that the test looks for.
 * Rank 0 sends, rank 1 receives. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nplus1.h"

static unsigned char* fill(int tag, int bytes) {
  unsigned char* buffer = malloc((size_t)bytes + 1);
  for (int i = 0; i < bytes; ++i) buffer[i] = (unsigned char)((7 * tag + 13 * i) % 251);
  return buffer;
}

static void blocking(void) {
  MPI_Send(fill(1, 8), 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD);         /* SEND(1) */
  MPI_Ssend(fill(2, 24), 3, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);     /* SEND(2) */
  MPI_Rsend(fill(3, 5), 5, MPI_CHAR, 1, 3, MPI_COMM_WORLD);        /* SEND(3) */
  MPI_Send(fill(4, 300000), 75000, MPI_INT, 1, 4, MPI_COMM_WORLD); /* SEND(4) */
  MPI_Send(NULL, 0, MPI_BYTE, 1, 5, MPI_COMM_WORLD);               /* SEND(5) */
  static char space[4096];
  MPI_Buffer_attach(space, sizeof(space));
  MPI_Bsend(fill(6, 100), 100, MPI_BYTE, 1, 6, MPI_COMM_WORLD); /* SEND(6) */
  void* old;
  int size;
  MPI_Buffer_detach(&old, &size);
}

static void nonblocking(void) {
  MPI_Request r[3];
  MPI_Isend(fill(7, 17), 17, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &r[0]);        /* SEND(7) */
  MPI_Issend(fill(8, 40000), 40000, MPI_BYTE, 1, 8, MPI_COMM_WORLD, &r[1]); /* SEND(8) */
  unsigned char* again = fill(9, 16);
  MPI_Send_init(again, 4, MPI_FLOAT, 1, 9, MPI_COMM_WORLD, &r[2]);
  MPI_Start(&r[2]); /* SEND(9) */
  MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
  memcpy(again, fill(10, 16), 16); /* another payload under the same tag */
  MPI_Start(&r[2]);                /* the same again */
  MPI_Wait(&r[2], MPI_STATUS_IGNORE);
  MPI_Request_free(&r[2]);
}

/* Bytes 0, 1, 4, 5, 8, 9 ... of the buffer; freed and made anew, so that its handle comes again. */
static void derived(void) {
  for (int k = 0; k < 2; ++k) {
    MPI_Datatype type;
    MPI_Type_vector(50, k == 0 ? 2 : 3, 4, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Send(fill(11 + k, 1000), 2, type, 1, 11 + k, MPI_COMM_WORLD); /* SEND(11) SEND(12) */
    MPI_Type_free(&type);
  }
  /* Covers its extent, and swaps halves. */
  MPI_Datatype swapped;
  const int lengths[2] = {4, 4}, places[2] = {4, 0};
  MPI_Type_indexed(2, lengths, places, MPI_BYTE, &swapped);
  MPI_Type_set_name(swapped, "swapped halves");
  MPI_Type_commit(&swapped);
  MPI_Send(fill(13, 8000), 1000, swapped, 1, 13, MPI_COMM_WORLD); /* SEND(13) */
  MPI_Type_free(&swapped);
  /* As a contiguous block, though made of parts. */
  MPI_Datatype row;
  MPI_Type_contiguous(5, MPI_INT, &row);
  MPI_Type_commit(&row);
  MPI_Send(fill(14, 60), 3, row, 1, 14, MPI_COMM_WORLD); /* SEND(14) */
  MPI_Type_free(&row);
}

static void both_ways(int rank) {
  unsigned char in[64];
  const int peer = 1 - rank;
  unsigned char* out = fill(15, 64);
  MPI_Sendrecv(out, 64, MPI_BYTE, peer, 15, /* SEND(15) */
               in, 64, MPI_BYTE, peer, 15, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  out = fill(16 + rank, 20000);
  MPI_Sendrecv_replace(out, 5000, MPI_INT, peer, 16, peer, 16, /* SEND(16) */
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive(int tag, int bytes) {
  unsigned char* buffer = malloc((size_t)bytes + 1);
  MPI_Recv(buffer, bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    nplus1_region_begin("blocking");
    blocking();
    nplus1_region_end("blocking");
    MPI_Pcontrol(1, "ways");
    nonblocking();
    derived();
    MPI_Pcontrol(-1, "ways");
    MPI_Pcontrol(0);
    MPI_Send(fill(18, 4), 4, MPI_BYTE, 1, 18, MPI_COMM_WORLD); /* unrecorded unless --pcontrol ipm */
    MPI_Pcontrol(1);
  } else {
    for (int tag = 1; tag <= 14; ++tag)
      if (tag != 10) receive(tag, 300000);
    receive(9, 16);
    receive(18, 4);
  }
  if (rank < 2) both_ways(rank);
  MPI_Finalize();
  return 0;
}
