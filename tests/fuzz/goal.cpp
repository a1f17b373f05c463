// Any text as GOAL.
#include "events/goal/goal.hpp"

#include "events/definitions_collector.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {

bool run(Input input) {
  const MemoryFile file{as_text(input)};
  auto importer = events::goal::open(file.path());
  if (!importer) return false;
  events::DefinitionsCollector sink;
  return importer.value()->read(sink).ok();
}

std::vector<std::string> seeds() {
  return {
      "num_ranks 2\n\nrank 0 {\nl1: calc 100\nl2: send 10b to 1 tag 3 cpu 0\nl2 requires l1\n}\n\nrank 1 {\n"
      "l1: recv 10b from 0 tag 3 cpu 0\nl2: calc 5\nl2 irequires l1\n}\n",
      "num_ranks 3\nrank 0 {\nl1: send 8b to 1\nl2: send 8b to 2\n}\nrank 1 {\nl1: recv 8b from 0\n}\nrank 2 "
      "{\n"
      "l1: recv 8b from 0 tag 0\n}\n"};
}

bool is_text() {
  return true;
}

}  // namespace nplus1::fuzz
