// The parallel detector: Q processes that search one recording. `nplus1 collectives --analysers Q` starts it:
//
//   mpirun -np Q nplus1-analysers RECORDING ANSWER METHOD KEEP      METHOD: default, paper; KEEP: first, all
//
// The first writes what all have found to the file ANSWER (detector/analysis.hpp), and any error to stderr.
#include <malloc.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "detector/analysis.hpp"
#include "detector/mpi/shared_payloads.hpp"
#include "detector/mpi/shared_search.hpp"
#include "detector/paper_method.hpp"
#include "events/recording/reader.hpp"

namespace nplus1::detector {
namespace {

[[noreturn]] void fail(const Error& error) {
  std::fprintf(stderr, "nplus1-analysers: %s; %s\n", error.what.c_str(), error.remedy.c_str());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::abort();
}

Analysis analyse(const Peers& peers, const std::string& recording, Method method, Keep keep) {
  auto reader = events::recording::Reader::open(recording);
  if (!reader) fail(reader.error());
  const Share share{static_cast<std::uint32_t>(peers.rank()), static_cast<std::uint32_t>(peers.size())};
  TransferCollector collector{reader.value().header().ranks, expected_messages(reader.value().bytes()),
                              share};
  const auto coverage = reader.value().read(collector);
  if (!coverage) fail(coverage.error());
  SharedReading reading{collector.take(), collector};
  Analysis analysis;
  analysis.messages = reading.mine.all.size();
  analysis.unknown = reading.mine.unknown;
  analysis.unmatched = reading.mine.unmatched;
  if (!coverage.value().complete) analysis.damage = coverage.value().text();
  analysis.findings = search_together(peers, reading, method, keep);
  return analysis;
}

/// All parts at the first analyser.
Analysis gathered(const Peers& peers, Analysis mine) {
  const auto numbers =
      peers.sum({mine.messages, mine.unmatched, mine.unknown.hashes, mine.unknown.crc, mine.unknown.sums});
  Analysis all;
  all.messages = numbers[0];
  all.unmatched = numbers[1];
  all.unknown = {numbers[2], numbers[3], numbers[4]};
  all.damage = mine.damage;  // everybody has read all
  for (auto& its : at_first(peers, std::move(mine.findings)))
    std::ranges::move(its, std::back_inserter(all.findings));
  sort_findings(all.findings);
  return all;
}

/// Payloads of one finding were with several analysers.
void finish_paper(Analysis& analysis) {
  std::vector<Finding> found;
  absorb(found, std::move(analysis.findings));
  compose(found);
  sort_findings(found);
  analysis.findings = std::move(found);
}

int run(const std::string& recording, const std::string& answer, Method method, Keep keep) {
  const Peers peers;
  Analysis analysis = gathered(peers, analyse(peers, recording, method, keep));
  if (method == Method::kPaper) finish_paper(analysis);
  if (peers.rank() != 0) return EXIT_SUCCESS;
  const std::string bytes = to_bytes(analysis);
  std::ofstream out{answer, std::ios::binary};
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (out.fail()) fail(Error{"cannot write " + answer, "check the disk of the temporary folder"});
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace nplus1::detector

int main(int argc, char** argv) {
  using namespace nplus1::detector;
  // What one phase gives back the next one takes: the kernel need not clear it again.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 64 << 20);
  MPI_Init(&argc, &argv);
  if (argc != 5) {
    std::fprintf(stderr, "usage: nplus1-analysers RECORDING ANSWER default|paper first|all\n");
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  const Method method = std::string{argv[3]} == "paper" ? Method::kPaper : Method::kDefault;
  const Keep keep = std::string{argv[4]} == "all" ? Keep::kAll : Keep::kFirst;
  const int result = run(argv[1], argv[2], method, keep);
  MPI_Finalize();
  return result;
}
