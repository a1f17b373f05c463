/* Panels are broadcast along the rows of a P x Q grid as HPL does it, in six ways: the owner is another
 * column each time; its panel has gaps in memory (a struct type of columns and a triangle elsewhere), the
 * others' is packed; receivers look (Iprobe) before they receive. Panels shrink; the last one has fewer
 * numbers than pieces. usage: hpl_broadcasts 1ring|1ringM|2ring|2ringM|long|longM|library P Q PANELS
 * (library: MPI_Bcast instead) EXPECT: one bcast of count PANELS per row, roots all columns, probable or
 * better; nothing else above possible */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 4, LDA = 100, TRIANGLE = 16 };

typedef struct {
  MPI_Comm row;
  int me, size, root, tag;
  int rows;        /* of each column */
  int lda;         /* from column to column */
  double* columns; /* then the triangle */
  double* triangle;
} Panel;

static int length(const Panel* p) {
  return p->rows * COLUMNS + (p->rows ? TRIANGLE : 3);
}

/* Numbers first .. first + count of the panel, wherever they lie. */
static MPI_Datatype piece(const Panel* p, int first, int count) {
  int lengths[COLUMNS + 1], n = 0;
  MPI_Aint places[COLUMNS + 1];
  MPI_Datatype types[COLUMNS + 1], type;
  while (count > 0) {
    const int column = p->rows ? first / p->rows : COLUMNS;
    double* at = column < COLUMNS ? p->columns + column * p->lda + first % p->rows
                                  : p->triangle + first - COLUMNS * p->rows;
    int part = column < COLUMNS ? p->rows - first % p->rows : count;
    if (part > count) part = count;
    MPI_Get_address(at, &places[n]);
    lengths[n] = part;
    types[n++] = MPI_DOUBLE;
    first += part;
    count -= part;
  }
  MPI_Type_create_struct(n, lengths, places, types, &type);
  MPI_Type_commit(&type);
  return type;
}

static int relative(const Panel* p, int rank) {
  return (rank - p->root + p->size) % p->size;
}
static int absolute(const Panel* p, int position) {
  return (p->root + position) % p->size;
}

static void await_message(const Panel* p, int from) {
  int there = 0;
  while (!there) MPI_Iprobe(from, p->tag, p->row, &there, MPI_STATUS_IGNORE);
}

static void send_all(const Panel* p, int position) {
  MPI_Datatype type = piece(p, 0, length(p));
  MPI_Send(MPI_BOTTOM, 1, type, absolute(p, position), p->tag, p->row);
  MPI_Type_free(&type);
}

static void receive_all(const Panel* p, int position) {
  MPI_Datatype type = piece(p, 0, length(p));
  await_message(p, absolute(p, position));
  MPI_Recv(MPI_BOTTOM, 1, type, absolute(p, position), p->tag, p->row, MPI_STATUS_IGNORE);
  MPI_Type_free(&type);
}

/* A ring from the root to positions first .. end - 1. */
static void ring(const Panel* p, int first, int end) {
  const int me = relative(p, p->me);
  if (first >= end) return;
  if (me == 0) send_all(p, first);
  if (me < first || me >= end) return;
  receive_all(p, me == first ? 0 : me - 1);
  if (me + 1 < end) send_all(p, me + 1);
}

static void modified(const Panel* p) {
  ring(p, 1, 2);
}

/* Member i of those who take part in a long broadcast, as a position: all, or all but the one after the root.
 */
static int member(int i, int skip) {
  return i == 0 ? 0 : i + skip;
}

static void range(const Panel* p, int members, int i, int* first, int* count) {
  const int n = length(p), size = (n + members - 1) / members;
  *first = i * size < n ? i * size : n;
  *count = n - *first < size ? n - *first : size;
}

/* Members first .. end - 1's pieces as one message. */
static void transfer(const Panel* p, int members, int first, int end, int to, int from, int skip) {
  int begin, last, count;
  range(p, members, first, &begin, &count);
  range(p, members, end - 1, &last, &count);
  MPI_Datatype type = piece(p, begin, last + count - begin);
  if (to >= 0) MPI_Ssend(MPI_BOTTOM, 1, type, absolute(p, member(to, skip)), p->tag, p->row);
  if (from >= 0) {
    await_message(p, absolute(p, member(from, skip)));
    MPI_Recv(MPI_BOTTOM, 1, type, absolute(p, member(from, skip)), p->tag, p->row, MPI_STATUS_IGNORE);
  }
  MPI_Type_free(&type);
}

static void spread(const Panel* p, int members, int me, int skip) {
  int top = 1;
  while (top < members) top *= 2;
  for (int half = top / 2; half > 0; half /= 2) {
    if (me % (2 * half) == 0 && me + half < members)
      transfer(p, members, me + half, me + 2 * half < members ? me + 2 * half : members, me + half, -1, skip);
    if (me % (2 * half) == half)
      transfer(p, members, me, me + half < members ? me + half : members, -1, me - half, skip);
  }
}

static void roll(const Panel* p, int members, int me, int skip) {
  const int next = absolute(p, member((me + 1) % members, skip));
  const int previous = absolute(p, member((me + members - 1) % members, skip));
  for (int step = 0; step + 1 < members; step++) {
    int first, count;
    MPI_Request request;
    range(p, members, (me - step + members) % members, &first, &count);
    MPI_Datatype mine = piece(p, first, count);
    range(p, members, (me - step - 1 + members) % members, &first, &count);
    MPI_Datatype theirs = piece(p, first, count);
    MPI_Issend(MPI_BOTTOM, 1, mine, next, p->tag, p->row, &request);
    MPI_Recv(MPI_BOTTOM, 1, theirs, previous, p->tag, p->row, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&mine);
    MPI_Type_free(&theirs);
  }
}

static void long_broadcast(const Panel* p, int skip) {
  const int position = relative(p, p->me), members = p->size - skip;
  if (position > 0 && position <= skip) return;
  const int me = position == 0 ? 0 : position - skip;
  spread(p, members, me, skip);
  roll(p, members, me, skip);
}

static void library(const Panel* p) {
  MPI_Datatype type = piece(p, 0, length(p));
  MPI_Bcast(MPI_BOTTOM, 1, type, p->root, p->row);
  MPI_Type_free(&type);
}

static void broadcast(const Panel* p, const char* how) {
  const int q = p->size;
  const int is_modified = how[strlen(how) - 1] == 'M', first = is_modified ? 2 : 1;
  if (strcmp(how, "library") == 0) {
    library(p);
    return;
  }
  if (is_modified) modified(p);
  if (how[0] == '1') ring(p, first, q);
  if (how[0] == '2') {
    const int middle = first + (q - first + 1) / 2;
    ring(p, first, middle);
    ring(p, middle, q);
  }
  if (how[0] == 'l') long_broadcast(p, is_modified);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 5) MPI_Abort(MPI_COMM_WORLD, 2);
  const int columns = atoi(argv[3]), panels = atoi(argv[4]);
  Panel p;
  MPI_Comm_split(MPI_COMM_WORLD, rank / columns, rank, &p.row);
  MPI_Comm_rank(p.row, &p.me);
  MPI_Comm_size(p.row, &p.size);
  double *own = malloc((LDA * COLUMNS + TRIANGLE) * sizeof *own),
         *packed = malloc((LDA * COLUMNS + TRIANGLE) * sizeof *own);
  srand(17 + rank);
  for (int k = 0; k < panels; k++) {
    p.root = k % p.size;
    p.tag = 2001 + k;
    p.rows = k + 1 < panels ? LDA - 5 - 7 * k : 0;
    if (p.rows < 1 && k + 1 < panels) p.rows = 1;
    const int mine = p.me == p.root;
    p.lda = mine ? LDA : p.rows;
    p.columns = mine ? own : packed;
    p.triangle = mine ? own + LDA * COLUMNS : packed + p.rows * COLUMNS;
    if (mine)
      for (int i = 0; i < LDA * COLUMNS + TRIANGLE; i++) own[i] = rand() / (RAND_MAX + 1.0) + 1e-9;
    broadcast(&p, argv[1]);
  }
  if (rank == 0) printf("done\n");
  MPI_Finalize();
  return 0;
}
