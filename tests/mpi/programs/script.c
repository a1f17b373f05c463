/* Each rank performs a script, so that a test states in one line per rank what happens.
 *   script "RANK 0'S COMMANDS" "RANK 1'S COMMANDS" ...     (the last one is for all further ranks)
 * Commands end with ';'. PEER -1 is MPI_ANY_SOURCE; a TAG is optional (0; any for receives from any source).
 *   send|ssend|bsend|isend|issend PEER BYTES [TAG]      recv|irecv PEER BYTES [TAG]
 *   wait I | waitall | waitany | waitsome    complete requests, numbered from 0 since the last waitall
 *   poll I | testall | testany | testsome | status I
 *                                            loops on MPI_Test and the like until something completes
 *   probe|iprobe|mprobe|improbe PEER BYTES [TAG]
 *                                            finds (iprobe, improbe: in a loop) and receives a message
 *   cancel I | free I                        MPI_Cancel and MPI_Wait; MPI_Request_free
 *   barrier | bcast|ibcast|scatter|gather|reduce ROOT BYTES | scan|allreduce BYTES
 *   spread ROOT BYTES                        an Alltoallv in which only ROOT sends
 *   compute S | sleep S | delay S            virtual time only; sleep; real time only
 *   wtime S | usleep S                       loops on MPI_Wtime; usleep
 *   repeat N { COMMANDS }                    also nested
 *   exit CODE | _exit CODE | return CODE | abort CODE | raise SIGNAL
 * Every payload is checked where it arrives. Rank 0 prints from whom its messages came, in the order in which
 * it learned of them. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "nplus1.h"

enum { kMaxRequests = 4096, kBufferForBsend = 8 << 20 };

struct transfer {
  MPI_Request request;
  unsigned char* buffer;
  int bytes;
  int receives;
  int root; /* of a broadcast, else -1 */
};

static int rank, size;
static struct transfer transfers[kMaxRequests];
static int transfer_count;

static void fail(const char* what, int detail) {
  fprintf(stderr, "script: rank %d: %s (%d)\n", rank, what, detail);
  MPI_Abort(MPI_COMM_WORLD, 99);
}

static unsigned char* payload(int from, int bytes) {
  unsigned char* buffer = malloc((size_t)bytes + 1);
  for (int i = 0; i < bytes; ++i) buffer[i] = (unsigned char)(from * 37 + i % 251);
  return buffer;
}

static void check_payload(const unsigned char* buffer, int from, int bytes) {
  for (int i = 0; i < bytes; ++i)
    if (buffer[i] != (unsigned char)(from * 37 + i % 251)) fail("wrong data from", from);
}

static void arrived(const unsigned char* buffer, const MPI_Status* status) {
  int bytes;
  MPI_Get_count(status, MPI_BYTE, &bytes);
  check_payload(buffer, status->MPI_SOURCE, bytes);
  if (rank == 0) printf("from %d, tag %d, %d bytes\n", status->MPI_SOURCE, status->MPI_TAG, bytes);
}

/* --- point-to-point --- */
typedef int send_function(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int isend_function(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static void send_now(send_function* function, int peer, int bytes, int tag) {
  unsigned char* buffer = payload(rank, bytes);
  function(buffer, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
  memset(buffer, 0, (size_t)bytes); /* it is ours again: nobody may see this */
  free(buffer);
}

static struct transfer* add_transfer(int bytes, int receives) {
  if (transfer_count == kMaxRequests) fail("too many requests", kMaxRequests);
  struct transfer* t = &transfers[transfer_count++];
  t->buffer = receives ? calloc((size_t)bytes + 1, 1) : payload(rank, bytes);
  t->bytes = bytes;
  t->receives = receives;
  t->root = -1;
  return t;
}

static void isend_now(isend_function* function, int peer, int bytes, int tag) {
  struct transfer* t = add_transfer(bytes, 0);
  function(t->buffer, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &t->request);
}

static void receive_now(int peer, int bytes, int tag) {
  unsigned char* buffer = calloc((size_t)bytes + 1, 1);
  MPI_Status status;
  MPI_Recv(buffer, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &status);
  arrived(buffer, &status);
  free(buffer);
}

static void irecv_now(int peer, int bytes, int tag) {
  struct transfer* t = add_transfer(bytes, 1);
  MPI_Irecv(t->buffer, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &t->request);
}

static void finished(int index, const MPI_Status* status) {
  struct transfer* t = &transfers[index];
  if (t->root >= 0)
    check_payload(t->buffer, t->root, t->bytes);
  else if (t->receives)
    arrived(t->buffer, status);
  memset(t->buffer, 0, (size_t)t->bytes); /* it is ours again: nobody may see this */
  free(transfers[index].buffer);
  transfers[index].buffer = NULL;
}

static void collect(MPI_Request* requests) {
  for (int i = 0; i < transfer_count; ++i) requests[i] = transfers[i].request;
}
static void put_back(const MPI_Request* requests) {
  for (int i = 0; i < transfer_count; ++i) transfers[i].request = requests[i];
}

static void complete_all(int polling) {
  static MPI_Request requests[kMaxRequests];
  static MPI_Status statuses[kMaxRequests];
  int done = 0;
  collect(requests);
  if (polling)
    while (!done) MPI_Testall(transfer_count, requests, &done, statuses);
  else
    MPI_Waitall(transfer_count, requests, statuses);
  for (int i = 0; i < transfer_count; ++i)
    if (transfers[i].buffer != NULL) finished(i, &statuses[i]);
  transfer_count = 0;
}

static void complete_any(int polling) {
  static MPI_Request requests[kMaxRequests];
  MPI_Status status;
  int index = MPI_UNDEFINED, done = 0;
  collect(requests);
  if (polling)
    while (!done) MPI_Testany(transfer_count, requests, &index, &done, &status);
  else
    MPI_Waitany(transfer_count, requests, &index, &status);
  put_back(requests);
  if (index == MPI_UNDEFINED) fail("nothing to wait for", transfer_count);
  finished(index, &status);
}

static void complete_some(int polling) {
  static MPI_Request requests[kMaxRequests];
  static MPI_Status statuses[kMaxRequests];
  static int indices[kMaxRequests];
  int count = 0;
  collect(requests);
  do {
    (polling ? MPI_Testsome : MPI_Waitsome)(transfer_count, requests, &count, indices, statuses);
  } while (count == 0);
  put_back(requests);
  if (count == MPI_UNDEFINED) fail("nothing to wait for", transfer_count);
  for (int i = 0; i < count; ++i) finished(indices[i], &statuses[i]);
}

static void complete_one(const char* how, int index) {
  MPI_Status status;
  int done = 0;
  if (strcmp(how, "status") == 0) {
    while (!done) MPI_Request_get_status(transfers[index].request, &done, &status);
    how = "wait";
  }
  if (strcmp(how, "wait") == 0) MPI_Wait(&transfers[index].request, &status);
  while (strcmp(how, "poll") == 0 && !done) MPI_Test(&transfers[index].request, &done, &status);
  finished(index, &status);
}

static void cancel_one(int index) {
  MPI_Status status;
  int cancelled = 0;
  MPI_Cancel(&transfers[index].request);
  MPI_Wait(&transfers[index].request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  if (rank == 0) printf(cancelled ? "cancelled\n" : "not cancelled\n");
  if (!cancelled) finished(index, &status);
  transfers[index].buffer = NULL; /* leaked on purpose: nobody may write into a freed buffer */
}

static void find_and_receive(const char* how, int peer, int bytes, int tag) {
  MPI_Status status;
  MPI_Message message;
  int found = 0, expected;
  const int matched = strstr(how, "mprobe") != NULL;
  if (strcmp(how, "probe") == 0) MPI_Probe(peer, tag, MPI_COMM_WORLD, &status);
  if (strcmp(how, "mprobe") == 0) MPI_Mprobe(peer, tag, MPI_COMM_WORLD, &message, &status);
  while (strcmp(how, "iprobe") == 0 && !found) MPI_Iprobe(peer, tag, MPI_COMM_WORLD, &found, &status);
  while (strcmp(how, "improbe") == 0 && !found)
    MPI_Improbe(peer, tag, MPI_COMM_WORLD, &found, &message, &status);
  MPI_Get_count(&status, MPI_BYTE, &expected);
  if (expected != bytes) fail("the probe told a wrong size", expected);
  if (!matched) {
    receive_now(status.MPI_SOURCE, bytes, status.MPI_TAG);
    return;
  }
  unsigned char* buffer = calloc((size_t)bytes + 1, 1);
  MPI_Mrecv(buffer, bytes, MPI_BYTE, &message, &status);
  arrived(buffer, &status);
  free(buffer);
}

/* --- collectives --- */
static void broadcast(int root, int bytes) {
  unsigned char* buffer = rank == root ? payload(root, bytes) : calloc((size_t)bytes + 1, 1);
  MPI_Bcast(buffer, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
  check_payload(buffer, root, bytes);
  memset(buffer, 0, (size_t)bytes);
  free(buffer);
}

static void broadcast_later(int root, int bytes) {
  struct transfer* t = add_transfer(bytes, rank != root);
  MPI_Ibcast(t->buffer, bytes, MPI_BYTE, root, MPI_COMM_WORLD, &t->request);
  t->root = root;
}

/* Block r of the root's buffer is the payload of rank r. */
static unsigned char* all_payloads(int bytes) {
  unsigned char* buffer = malloc((size_t)bytes * (size_t)size + 1);
  for (int r = 0; r < size; ++r) {
    unsigned char* block = payload(r, bytes);
    memcpy(buffer + (size_t)r * (size_t)bytes, block, (size_t)bytes);
    free(block);
  }
  return buffer;
}

static void scatter(int root, int bytes) {
  unsigned char* all = rank == root ? all_payloads(bytes) : NULL;
  unsigned char* mine = calloc((size_t)bytes + 1, 1);
  MPI_Scatter(all, bytes, MPI_BYTE, mine, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
  check_payload(mine, rank, bytes);
  if (all != NULL) memset(all, 0, (size_t)bytes * (size_t)size);
  free(all);
  free(mine);
}

static void gather(int root, int bytes) {
  unsigned char* all = calloc((size_t)bytes * (size_t)size + 1, 1);
  unsigned char* mine = payload(rank, bytes);
  MPI_Gather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
  memset(mine, 0, (size_t)bytes);
  for (int r = 0; r < size && rank == root; ++r) check_payload(all + (size_t)r * (size_t)bytes, r, bytes);
  free(all);
  free(mine);
}

static void sums(const char* how, int root, int bytes) {
  const int count = bytes / (int)sizeof(int);
  int* mine = malloc((size_t)bytes + 1);
  int* sum = calloc((size_t)count + 1, sizeof *sum);
  for (int i = 0; i < count; ++i) mine[i] = (rank + 1) * (i % 7);
  int ranks = size;
  if (strcmp(how, "reduce") == 0) MPI_Reduce(mine, sum, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  if (strcmp(how, "allreduce") == 0) MPI_Allreduce(mine, sum, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (strcmp(how, "scan") == 0) {
    MPI_Scan(mine, sum, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    ranks = rank + 1;
  }
  memset(mine, 0, (size_t)bytes);
  for (int i = 0; i < count && (strcmp(how, "reduce") != 0 || rank == root); ++i)
    if (sum[i] != ranks * (ranks + 1) / 2 * (i % 7)) fail("wrong sum", sum[i]);
  free(mine);
  free(sum);
}

static void spread(int root, int bytes) {
  int* zeros = calloc((size_t)size, sizeof *zeros);
  int* out = calloc((size_t)size, sizeof *out);
  int* places = calloc((size_t)size, sizeof *places);
  int* in = calloc((size_t)size, sizeof *in);
  for (int r = 0; r < size; ++r) {
    out[r] = rank == root && r != root ? bytes : 0;
    places[r] = rank == root ? r * bytes : 0;
  }
  in[root] = rank == root ? 0 : bytes;
  unsigned char* all = rank == root ? all_payloads(bytes) : calloc(1, 1);
  unsigned char* mine = calloc((size_t)bytes + 1, 1);
  MPI_Alltoallv(all, out, places, MPI_BYTE, mine, in, zeros, MPI_BYTE, MPI_COMM_WORLD);
  if (rank != root) check_payload(mine, rank, bytes);
  free(zeros), free(out), free(places), free(in), free(all), free(mine);
}

/* --- time --- */
static struct timespec as_timespec(double seconds) {
  struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9 + 0.5)};
  return t;
}

static void wait_for_clock(double seconds) {
  const double start = MPI_Wtime();
  while (MPI_Wtime() < start + seconds) {
  }
}

static int perform_time(const char* word, double seconds) {
  const struct timespec t = as_timespec(seconds);
  if (strcmp(word, "compute") == 0)
    nplus1_compute(seconds);
  else if (strcmp(word, "sleep") == 0)
    nanosleep(&t, NULL);
  else if (strcmp(word, "delay") == 0)
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL);
  else if (strcmp(word, "usleep") == 0)
    usleep((useconds_t)(seconds * 1e6 + 0.5));
  else if (strcmp(word, "wtime") == 0)
    wait_for_clock(seconds);
  else
    return 0;
  return 1;
}

/* --- the interpreter --- */
static int is(const char* word, const char* name) {
  return strcmp(word, name) == 0;
}

static int perform_send(const char* word, int peer, int bytes, int tag) {
  if (is(word, "send"))
    send_now(MPI_Send, peer, bytes, tag);
  else if (is(word, "ssend"))
    send_now(MPI_Ssend, peer, bytes, tag);
  else if (is(word, "bsend"))
    send_now(MPI_Bsend, peer, bytes, tag);
  else if (is(word, "isend"))
    isend_now(MPI_Isend, peer, bytes, tag);
  else if (is(word, "issend"))
    isend_now(MPI_Issend, peer, bytes, tag);
  else
    return 0;
  return 1;
}

static int perform_receive(const char* word, int peer, int bytes, int tag) {
  if (is(word, "recv"))
    receive_now(peer, bytes, tag);
  else if (is(word, "irecv"))
    irecv_now(peer, bytes, tag);
  else if (strstr(word, "probe") != NULL)
    find_and_receive(word, peer, bytes, tag);
  else
    return 0;
  return 1;
}

static int perform_completion(const char* word, int index) {
  if (is(word, "waitall"))
    complete_all(0);
  else if (is(word, "testall"))
    complete_all(1);
  else if (is(word, "waitany"))
    complete_any(0);
  else if (is(word, "testany"))
    complete_any(1);
  else if (is(word, "waitsome"))
    complete_some(0);
  else if (is(word, "testsome"))
    complete_some(1);
  else if (is(word, "wait") || is(word, "poll") || is(word, "status"))
    complete_one(word, index);
  else if (is(word, "cancel"))
    cancel_one(index);
  else if (is(word, "free"))
    MPI_Request_free(&transfers[index].request);
  else
    return 0;
  return 1;
}

static int perform_collective(const char* word, int root, int bytes) {
  if (is(word, "barrier"))
    MPI_Barrier(MPI_COMM_WORLD);
  else if (is(word, "bcast"))
    broadcast(root, bytes);
  else if (is(word, "ibcast"))
    broadcast_later(root, bytes);
  else if (is(word, "scatter"))
    scatter(root, bytes);
  else if (is(word, "gather"))
    gather(root, bytes);
  else if (is(word, "reduce"))
    sums(word, root, bytes);
  else if (is(word, "scan") || is(word, "allreduce"))
    sums(word, 0, root);
  else if (is(word, "spread"))
    spread(root, bytes);
  else
    return 0;
  return 1;
}

static void perform_end(const char* word, int code) {
  fflush(stdout);
  if (is(word, "exit")) exit(code);
  if (is(word, "_exit")) _exit(code);
  if (is(word, "return")) {
    MPI_Finalize();
    exit(code);
  }
  if (is(word, "abort")) MPI_Abort(MPI_COMM_WORLD, code);
  if (is(word, "raise")) raise(code);
  fail("unknown command", word[0]);
}

static void perform(const char* command) {
  char word[32] = "";
  double numbers[3] = {0, 0, 0};
  const int words = sscanf(command, " %31s %lf %lf %lf", word, &numbers[0], &numbers[1], &numbers[2]);
  if (words <= 0) return;
  const int first = (int)numbers[0], second = (int)numbers[1];
  const int tag = words > 3 ? (int)numbers[2] : 0;
  if (perform_time(word, numbers[0]) || perform_send(word, first, second, tag) ||
      perform_completion(word, first) || perform_collective(word, first, second))
    return;
  const int source = first < 0 ? MPI_ANY_SOURCE : first;
  if (perform_receive(word, source, second, words > 3 || first >= 0 ? tag : MPI_ANY_TAG)) return;
  perform_end(word, first);
}

/* Performs [at, end); a repeated part is delimited by its braces. */
static void perform_all(const char* at, const char* end) {
  while (at < end) {
    at += strspn(at, " \n;");
    if (at >= end) return;
    if (strncmp(at, "repeat", 6) == 0) {
      const int times = atoi(at + 6);
      const char* begin = strchr(at, '{') + 1;
      int depth = 1;
      for (at = begin; depth > 0; ++at) depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
      for (int i = 0; i < times; ++i) perform_all(begin, at - 1);
      continue;
    }
    char command[128] = "";
    size_t length = strcspn(at, ";}");
    if (length > (size_t)(end - at)) length = (size_t)(end - at);
    if (length >= sizeof command) fail("command too long", (int)length);
    memcpy(command, at, length);
    perform(command);
    at += length;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 2) fail("no script", argc);
  static char for_bsend[kBufferForBsend];
  MPI_Buffer_attach(for_bsend, sizeof for_bsend);
  const char* script = argv[rank + 1 < argc ? rank + 1 : argc - 1];
  perform_all(script, script + strlen(script));
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
