// Any bytes as a job's file of statistics: read, made patterns of, and shown.
#include "events/frame_text.hpp"
#include "events/statistics/pages.hpp"
#include "events/statistics/testing/page_bytes.hpp"
#include "patterns/counted.hpp"
#include "patterns/first_screen.hpp"
#include "patterns/patterns_json.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {

namespace page = events::statistics;

bool run(Input input) {
  const MemoryFile file{as_text(input)};
  static_cast<void>(page::is_statistics(file.path()));
  const auto pages = page::read_pages(file.path());
  if (!pages) return false;
  for (const page::RankPage& rank : pages.value()) {
    for (const page::ThreadState& t : rank.threads) static_cast<void>(rank.members(t.members, t.ranges));
    for (const std::string& path : rank.paths) static_cast<void>(events::frames_of(path));
  }
  const auto counted = patterns::counted_patterns(pages.value());
  if (!counted || counted.value().ranks() > 4096)
    return false;  // a file may claim millions, which take their time
  static_cast<void>(patterns::first_screen(counted.value(), {}));
  static_cast<void>(patterns::patterns_json(counted.value()));
  return true;
}

std::vector<std::string> seeds() {
  page::MadePage first{0, 2}, second{1, 2};
  first.text = "/bin/app+0x1234 abcd\n/lib/libc.so.6+0x20 ef";
  first.paths = {{0, static_cast<std::uint32_t>(first.text.size())}};
  first.sites = {{page::site_key(1, 5), 2, 3, 4000, 2000, 3, 24, 9, 8}};
  first.peers = {{page::peer_key(page::kPointToPointLayer, false, 1), 3, 24}};
  first.sizes = {{page::kPointToPointLayer + 1, 8, 3}};
  first.collectives = {{page::collective_key(9, true, 1, 2), 1, 3, 24, 4000}};
  first.communicators = {{7, 1, 1, 2, 0, 3, 24, 1, 4000, 4000}};
  first.live = {{7, 3}};
  first.threads = {page::ThreadState{}};
  first.threads[0].used = 1;
  first.threads[0].members = first.threads[0].ranges = 1;
  return {first.bytes(), first.bytes() + second.bytes()};
}

bool is_text() {
  return false;
}

}  // namespace nplus1::fuzz
