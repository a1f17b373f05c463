// Any text as SMPI's time-independent trace.
#include "events/time_independent/time_independent.hpp"

#include "events/definitions_collector.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {

void run(Input input) {
  const MemoryFile file{as_text(input)};
  auto importer = events::time_independent::open(file.path());
  if (!importer) return;
  events::DefinitionsCollector sink;
  static_cast<void>(importer.value()->read(sink));
}

std::vector<std::string> seeds() {
  return {
      "0 init\n1 init\n0 compute 1e6\n0 send 1 0 1024 6\n1 recv 0 0 1024 6\n0 isend 1 1 8\n1 irecv 0 1 8\n1 "
      "wait 0 1 1\n"
      "0 wait 0 1 1\n0 finalize\n1 finalize\n",
      "0 init\n1 init\n0 barrier\n1 barrier\n0 bcast 1024 0 6\n1 bcast 1024 0 6\n0 allreduce 8 10 6\n1 "
      "allreduce 8 10 6\n"
      "0 alltoall 8 8 6 6\n1 alltoall 8 8 6 6\n0 allgatherv 4 4 4 6 6\n1 allgatherv 4 4 4 6 6\n0 waitall 1\n"
      "1 gatherv 8 8 8 0 6 6\n0 reducescatter 4 4 10 6\n0 alltoallv 8 4 4 8 4 4 6 6\n0 finalize\n1 "
      "finalize\n"};
}

bool is_text() {
  return true;
}

}  // namespace nplus1::fuzz
