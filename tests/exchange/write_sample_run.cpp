// write_sample_run FILE: the sample run as JSON lines, for tests in other languages.
#include "events/text/text.hpp"
#include "tests/exchange/sample_run.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  using namespace nplus1;
  auto exporter = events::text::create(argv[1], events::text::Syntax::kJsonLines, {tests::kSampleRanks, {}});
  if (!exporter) return 1;
  tests::sample_run().play(*exporter.value());
  return exporter.value()->close().ok() ? 0 : 1;
}
