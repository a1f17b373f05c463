// partitioned SCENARIO: partitioned communication whose times follow from a network of 1 ms and 1 MB/s. Ranks say what
// happened when: "RANK WHAT MICROSECONDS" of MPI_Wtime. Ends with 1 if what was received is wrong.
#include <mpi.h>
#include <nplus1.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/programs/timed.h"

enum { kPartitions = 4, kBytes = 1000, kAll = kPartitions * kBytes };
static unsigned char buffer[kAll], other[kAll];

static void say(const char* what) {
  printf("%d %s %.0f\n", rank, what, MPI_Wtime() * 1e6);
}

static unsigned char value(int partition, int round) {
  return (unsigned char)(1 + 16 * round + partition);
}

static void fill(unsigned char* all, int partition, int round) {
  memset(all + partition * kBytes, value(partition, round), kBytes);
}

static void check(const unsigned char* all, int round) {
  for (int i = 0; i < kAll; ++i)
    if (all[i] != value(i / kBytes, round)) return expect(0, "data");
}

static void check_status(const MPI_Status* status, int source, int tag, int bytes) {
  int count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  expect(status->MPI_SOURCE == source && status->MPI_TAG == tag && count == bytes, "status");
}

static MPI_Request to(int peer, int tag) {
  MPI_Request request;
  MPI_Psend_init(buffer, kPartitions, kBytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  return request;
}

static MPI_Request from(int peer, int tag) {
  MPI_Request request;
  MPI_Precv_init(other, kPartitions, kBytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  return request;
}

/// Each partition is ready 1 ms after the one before.
static void early(void) {
  MPI_Request request = rank == 0 ? to(1, 5) : from(0, 5);
  MPI_Status status;
  MPI_Start(&request);
  for (int p = 0; rank == 0 && p < kPartitions; ++p) {
    nplus1_compute(1e-3);
    fill(buffer, p, 0);
    MPI_Pready(p, request);
  }
  MPI_Wait(&request, &status);
  say("wait");
  if (rank == 1) check(other, 0), check_status(&status, 0, 5, kAll);
  MPI_Request_free(&request);
}

/// The receiver looks for one partition after the other; they become ready in the opposite order.
static void arrivals(void) {
  MPI_Request request = rank == 0 ? to(1, 0) : from(0, 0);
  for (int round = 0; round < 2; ++round) {
    MPI_Start(&request);
    if (rank == 0) {
      for (int p = kPartitions - 1; p >= 0; --p) {
        nplus1_compute(1e-3);
        fill(buffer, p, round);
        MPI_Pready(p, request);
      }
    } else {
      for (int p = kPartitions - 1; p >= 0; --p) {
        for (int flag = 0; !flag;) MPI_Parrived(request, p, &flag);
        expect(other[p * kBytes] == value(p, round) && other[(p + 1) * kBytes - 1] == value(p, round),
               "partition");
        if (round == 0) say("arrived");
      }
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 1) check(other, 1);
  MPI_Request_free(&request);
}

/// Two rounds whose receiver starts late.
static void late(void) {
  MPI_Request request = rank == 0 ? to(1, 0) : from(0, 0);
  for (int round = 0; round < 2; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    if (rank == 1) nplus1_compute(10e-3);
    MPI_Start(&request);
    if (rank == 0) {
      for (int p = 0; p < kPartitions; ++p) fill(buffer, p, round);
      MPI_Pready_range(0, kPartitions - 1, request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1) check(other, round);
    printf("%d round %.0f\n", rank, (MPI_Wtime() - begin) * 1e6);
  }
  MPI_Request_free(&request);
}

/// The sides divide the message differently, also within an element of the other's.
static void unequal(int there, int here) {
  enum { kInts = 240 };
  static int sent[kInts], got[kInts];
  MPI_Datatype element;
  MPI_Request request;
  MPI_Status status;
  MPI_Type_contiguous(kInts / here, MPI_INT, &element);
  MPI_Type_commit(&element);
  if (rank == 0)
    MPI_Psend_init(sent, there, kInts / there, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  else
    MPI_Precv_init(got, here, 1, element, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Type_free(&element);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kInts; ++i) sent[i] = i + round, got[i] = -1;
    MPI_Start(&request);
    for (int p = 0; rank == 0 && p < there; ++p) MPI_Pready(there - 1 - p, request);
    if (rank == 1 && round == 1) {
      for (int p = 0; p < here; ++p)
        for (int flag = 0; !flag;) MPI_Parrived(request, p, &flag);
      for (int i = 0; i < kInts; ++i) expect(got[i] == i + round, "partitions");
    }
    MPI_Wait(&request, &status);
    for (int i = 0; rank == 1 && i < kInts; ++i) expect(got[i] == i + round, "integers");
    if (rank == 1) check_status(&status, 0, 3, (int)sizeof(got));
  }
  MPI_Request_free(&request);
}

static void all_ways_to_divide(void) {
  const int parts[] = {1, 2, 3, 5, 8, 16, 240};
  for (unsigned a = 0; a < sizeof(parts) / sizeof(*parts); ++a)
    for (unsigned b = 0; b < sizeof(parts) / sizeof(*parts); ++b) unequal(parts[a], parts[b]);
}

/// Every call that completes, beside other requests, by both sides at once.
static void completions(void) {
  const int peer = 1 - rank;
  char in = 0, out = (char)('a' + rank);
  MPI_Request all[4] = {to(peer, 7), from(peer, 7), MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[4];
  for (int round = 0; round < 7; ++round) {
    int left = 4, flag = 0, index = 0, n = 0, indices[4];
    memset(other, 0, sizeof(other));
    MPI_Startall(2, all);
    MPI_Irecv(&in, 1, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &all[2]);
    MPI_Isend(&out, 1, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &all[3]);
    for (int p = 0; p < kPartitions; ++p) fill(buffer, p, round);
    int list[kPartitions] = {2, 0, 3, 1};
    MPI_Pready_list(kPartitions, list, all[0]);
    switch (round) {
      case 0:
        MPI_Waitall(4, all, statuses);
        check_status(&statuses[1], peer, 7, kAll);
        break;
      case 1:
        while (!flag) MPI_Testall(4, all, &flag, statuses);
        check_status(&statuses[1], peer, 7, kAll);
        break;
      case 2:
        for (; left > 0; --left)
          MPI_Waitany(4, all, &index, statuses), expect(index >= 0 && index < 4, "index");
        break;
      case 3:
        while (left > 0) {
          MPI_Testany(4, all, &index, &flag, statuses);
          if (flag && index != MPI_UNDEFINED) --left;
        }
        break;
      case 4:
        for (; left > 0; left -= n) MPI_Waitsome(4, all, &n, indices, statuses);
        break;
      case 5:
        while (left > 0) {
          MPI_Testsome(4, all, &n, indices, statuses);
          if (n != MPI_UNDEFINED) left -= n;
        }
        break;
      default:
        while (!flag) MPI_Request_get_status(all[1], &flag, statuses);
        check_status(statuses, peer, 7, kAll);
        check(other, round);
        for (int i = 0; i < 4; ++i) MPI_Wait(&all[i], MPI_STATUS_IGNORE);
    }
    check(other, round);
    expect(in == 'a' + peer, "message");
  }
  MPI_Waitany(2, all, &(int){0}, statuses);  // inactive ones
  MPI_Request_free(&all[0]);
  MPI_Request_free(&all[1]);
}

/// Requests match in the order in which they were initialised, whichever is started first; to oneself, nobody, or never.
static void matching(void) {
  static unsigned char more[2][kAll];
  MPI_Request sends[2], receives[2], self[2], none[2], never = to(1 - rank, 99);
  MPI_Status status;
  for (int i = 0; i < 2; ++i) {
    MPI_Psend_init(more[i], 1, kAll, MPI_BYTE, 1, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]);
    MPI_Precv_init(more[i], 1, kAll, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[i]);
  }
  for (int i = 1; i >= 0; --i) {
    MPI_Request* const request = rank == 0 ? &sends[i] : &receives[1 - i];
    memset(more[rank == 0 ? i : 1 - i], rank == 0 ? i + 1 : 0, kAll);
    MPI_Start(request);
    if (rank == 0) MPI_Pready(0, *request);
    if (rank == 0) MPI_Wait(request, MPI_STATUS_IGNORE);
  }
  if (rank == 1) {
    MPI_Waitall(2, receives, MPI_STATUSES_IGNORE);
    expect(more[0][kAll - 1] == 1 && more[1][0] == 2, "order");
  }
  self[0] = to(rank, 1), self[1] = from(rank, 1);
  none[0] = to(MPI_PROC_NULL, 1), none[1] = from(MPI_PROC_NULL, 1);
  for (int round = 0; round < 2; ++round) {
    MPI_Startall(2, self);
    MPI_Startall(2, none);
    for (int p = 0; p < kPartitions; ++p)
      fill(buffer, p, round), MPI_Pready(p, self[0]), MPI_Pready(p, none[0]);
    MPI_Waitall(2, self, MPI_STATUSES_IGNORE);
    check(other, round);
    MPI_Wait(&none[0], MPI_STATUS_IGNORE);
    MPI_Wait(&none[1], &status);
    check_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  }
  for (int i = 0; i < 2; ++i) {
    MPI_Request_free(&sends[i]);
    MPI_Request_free(&receives[i]);
    MPI_Request_free(&self[i]);
    MPI_Request_free(&none[i]);
  }
  MPI_Request_free(&never);
}

/// Who waits for the message that the sender sends after its round holds no receive of a partition back.
static void crossed(void) {
  MPI_Request request = rank == 0 ? to(1, 0) : from(0, 0);
  char token = 0;
  for (int round = 0; round < 2; ++round) {
    MPI_Start(&request);
    if (rank == 0) {
      for (int p = 0; p < kPartitions; ++p) fill(buffer, p, round), MPI_Pready(p, request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Send(&token, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&token, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      check(other, round);
    }
  }
  MPI_Request_free(&request);
}

static MPI_Request shared;

static void* work(void* number) {
  const int p = (int)(size_t)number;
  nplus1_compute(1e-3 * (p + 1));
  if (rank == 0) {
    fill(buffer, p, 0);
    MPI_Pready(p, shared);
  } else {
    for (int flag = 0; !flag;) MPI_Parrived(shared, p, &flag);
    expect(other[p * kBytes] == value(p, 0), "partition");
  }
  return NULL;
}

static void threads(void) {
  pthread_t all[kPartitions];
  shared = rank == 0 ? to(1, 0) : from(0, 0);
  MPI_Start(&shared);
  for (int p = 0; p < kPartitions; ++p) pthread_create(&all[p], NULL, work, (void*)(size_t)p);
  if (rank == 0) MPI_Wait(&shared, MPI_STATUS_IGNORE);  // before the others have said that they are ready
  for (int p = 0; p < kPartitions; ++p) pthread_join(all[p], NULL);
  if (rank == 1) MPI_Wait(&shared, MPI_STATUS_IGNORE), check(other, 0);
  say("end");
  MPI_Request_free(&shared);
}

static void errors(void) {
  MPI_Request request = to(1 - rank, 0), bad;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  expect(MPI_Psend_init(buffer, 1, 1, MPI_BYTE, ranks, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &bad) != MPI_SUCCESS,
         "peer");
  expect(MPI_Precv_init(other, 1, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &bad) !=
             MPI_SUCCESS,
         "type");
  MPI_Request_free(&request);
}

int main(int argc, char** argv) {
  const char* scenario = argc > 1 ? argv[1] : "";
  int provided;
  MPI_Init_thread(&argc, &argv, strcmp(scenario, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const struct {
    const char* name;
    void (*run)(void);
  } all[] = {
      {"early", early},          {"arrivals", arrivals}, {"late", late},       {"divide", all_ways_to_divide},
      {"complete", completions}, {"match", matching},    {"crossed", crossed}, {"threads", threads},
      {"errors", errors}};
  int known = 0;
  for (unsigned i = 0; i < sizeof(all) / sizeof(*all); ++i)
    if (strcmp(all[i].name, scenario) == 0) all[i].run(), known = 1;
  expect(known, "no such scenario");
  MPI_Finalize();
  return wrong;
}
