// The default schedules against what MPICH really sends: testdata/mpich_sends.txt says how that was recorded.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "netmodel/collectives/schedule.hpp"
#include "netmodel/collectives/selection.hpp"

namespace nplus1::netmodel {
namespace {

/// A recorded line, and the lists that its call refers to.
struct Recorded {
  CollectiveCall call;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> receive_sizes;
  std::string sends;  // " 1:8 2:16"
};

CollectiveKind kind_of(const std::string& name) {
  for (const Algorithm& algorithm : all_algorithms()) {
    if (kind_name(algorithm.kind) == name) return algorithm.kind;
  }
  throw std::invalid_argument{name};
}

/// Block `index` of those that differ, for a size of `size` bytes.
std::int64_t block(std::int64_t index, std::int64_t size) {
  return index % 3 * (size / 8) / 2 * 8;
}

void fill_sizes(Recorded& recorded) {
  CollectiveCall& call = recorded.call;
  const std::int64_t size = count(call.size);
  const bool pairs = call.kind == CollectiveKind::kAlltoallv;
  for (std::int64_t r = 0; r < call.members; ++r) {
    recorded.sizes.push_back(block(pairs ? call.me + 2 * r : r, size));
    recorded.receive_sizes.push_back(block(r + 2 * call.me, size));
  }
  const bool rooted = call.kind == CollectiveKind::kGatherv || call.kind == CollectiveKind::kScatterv;
  const bool all = call.kind == CollectiveKind::kAllgatherv || call.kind == CollectiveKind::kReduceScatter;
  if (rooted) call.size = bytes(block(call.me, size));
  if (all || pairs || (rooted && call.me == call.root)) call.sizes = recorded.sizes;
  if (pairs) call.receive_sizes = recorded.receive_sizes;
}

Recorded parse_line(const std::string& line) {
  Recorded recorded;
  std::istringstream in{line};
  std::string kind;
  std::int64_t size = 0;
  char colon = 0;
  CollectiveCall& call = recorded.call;
  in >> kind >> call.members >> call.root >> size >> call.me >> colon;
  call.kind = kind_of(kind);
  call.size = bytes(size);
  std::getline(in, recorded.sends);
  fill_sizes(recorded);
  return recorded;
}

std::string sends_of(const CollectiveCall& call) {
  std::vector<Step> steps;
  append_steps(call, steps);
  std::ostringstream out;
  for (const Step& step : steps) {
    if (step.send_to != kNoMember) out << ' ' << step.send_to << ':' << count(step.size);
  }
  return out.str();
}

TEST(MpichSchedules, SendWhatTheLibrarySendsInTheSameOrder) {
  std::ifstream file{NPLUS1_MPICH_SENDS};
  ASSERT_TRUE(file) << NPLUS1_MPICH_SENDS;
  std::map<CollectiveKind, int> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const Recorded recorded = parse_line(line);
    EXPECT_EQ(sends_of(recorded.call), recorded.sends) << line;
    ++lines[recorded.call.kind];
  }
  EXPECT_EQ(lines.size(), 15U) << "all kinds but gather, synchronize and the neighbourhood forms";
}

}  // namespace
}  // namespace nplus1::netmodel
