// Test program: every mock-up against its original, on random data. Prints what differs and returns 1. With
// --broken each of them forgets the first byte of its result, which must be found for all; --list prints
// their names.
//   mpirun -np P verify_mock_ups [--broken|--list]
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>

#include "guidelines/mpi/verify.hpp"

namespace {

using namespace nplus1::guidelines;

/// x -> a x + b over 32 bits: associative, not commutative.
struct Affine {
  std::uint32_t a, b;
};

void compose(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* left = static_cast<const Affine*>(in);
  auto* right = static_cast<Affine*>(inout);
  for (int i = 0; i < *count; ++i) right[i] = {left[i].a * right[i].a, left[i].a * right[i].b + left[i].b};
}

struct Kind {
  const char* name;
  MPI_Datatype type;
  MPI_Op op;
};

int failures = 0;
long compared = 0;
bool broken = false;
std::set<std::string> wrong;  // mock-ups

/// `run`, but the first byte of each receive buffer stays as it was.
AnyRun forgetful(Run run) {
  return [run](const Call& call, Scratch& scratch) {
    char* receive = static_cast<char*>(call.receive);
    const bool here = receive != nullptr && call.receive != MPI_IN_PLACE && call.count > 0;
    const char before = here ? *receive : '\0';
    const int error = run(call, scratch);
    if (here) *receive = before;
    return error;
  };
}

void compare(const Operation& operation, const char* name, Run run, const Kind& kind, Case c) {
  c.type = kind.type;
  c.op = kind.op;
  c.seed = static_cast<unsigned>(++compared);
  const std::string what = difference(operation, broken ? forgetful(run) : AnyRun{run}, c, MPI_COMM_WORLD);
  if (what.empty()) return;
  wrong.insert(name);
  ++failures;
  if (broken) return;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::printf("%s, %d x %s, root %d%s: %s\n", name, c.count, kind.name, c.root,
                c.in_place ? ", in place" : "", what.c_str());
}

/// MPICH 4.0.2 itself crashes in MPI_Reduce then.
bool crashes_the_original(const Operation& operation, const Kind& kind, const Case& c) {
  int size = 0;
  MPI_Type_size(kind.type, &size);
  return std::strcmp(operation.name, "Reduce") == 0 && c.in_place && c.root != 0 && c.count * size > 2048;
}

std::vector<int> roots_of(const Operation& operation, int ranks) {
  if (!operation.is_rooted()) return {0};
  return ranks > 2 ? std::vector<int>{0, ranks / 2, ranks - 1} : std::vector<int>{0, ranks - 1};
}

/// Every size from 0 to some elements more than three for each rank, and some large ones.
std::vector<int> counts_for(int ranks) {
  std::vector<int> counts;
  for (int count = 0; count <= 3 * ranks + 1; ++count) counts.push_back(count);
  counts.insert(counts.end(), {1000, 20000 / ranks + 1});
  return counts;
}

void compare_all_sizes(const Operation& operation, const char* name, Run run, const Kind& kind) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (const int count : counts_for(ranks)) {
    for (const int root : roots_of(operation, ranks)) {
      for (const bool in_place : {false, true}) {
        const Case c{count, {}, {}, root, in_place};
        if (in_place && (!operation.has_in_place || crashes_the_original(operation, kind, c))) continue;
        compare(operation, name, run, kind, c);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  broken = argc > 1 && std::strcmp(argv[1], "--broken") == 0;
  if (argc > 1 && std::strcmp(argv[1], "--list") == 0) {
    for (const MockUp& mock_up : mock_ups()) std::puts(mock_up.name);
    MPI_Finalize();
    return 0;
  }
  MPI_Datatype pair;
  MPI_Type_contiguous(sizeof(Affine), MPI_BYTE, &pair);
  MPI_Type_commit(&pair);
  MPI_Op composition;
  MPI_Op_create(compose, 0, &composition);
  const Kind kinds[] = {{"bytes", MPI_BYTE, MPI_BOR}, {"functions", pair, composition}};
  for (const MockUp& mock_up : mock_ups()) {
    const Operation& operation = *find_operation(mock_up.original);
    compare_all_sizes(operation, mock_up.name, mock_up.run, kinds[0]);
    if (operation.reduces) compare_all_sizes(operation, mock_up.name, mock_up.run, kinds[1]);
  }
  if (rank == 0)
    std::printf("%zu mock-ups, %ld comparisons, %d differences in %zu mock-ups\n", mock_ups().size(),
                compared, failures, wrong.size());
  MPI_Op_free(&composition);
  MPI_Type_free(&pair);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
