// The schedules against what MPI libraries really send: the files in testdata/ say how that was recorded.
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
  std::string algorithm;  // if it was forced
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

/// The members that a call's lists are about: all, or those of the other group.
std::vector<std::int64_t> listed(const CollectiveCall& call) {
  const bool remote_first = call.first_group != 0 && call.me >= call.first_group;
  const std::int64_t last = remote_first ? call.first_group : call.members;
  std::vector<std::int64_t> members;
  for (std::int64_t m = remote_first ? 0 : call.first_group; m < last; ++m) members.push_back(m);
  return members;
}

void fill_sizes(Recorded& recorded) {
  CollectiveCall& call = recorded.call;
  const std::int64_t size = count(call.size);
  const bool pairs = call.kind == CollectiveKind::kAlltoallv;
  for (const std::int64_t r : listed(call)) {
    recorded.sizes.push_back(block(pairs ? call.me + 2 * r : r, size));
    recorded.receive_sizes.push_back(block(r + 2 * call.me, size));
  }
  const bool rooted = call.kind == CollectiveKind::kGatherv || call.kind == CollectiveKind::kScatterv;
  const bool all = call.kind == CollectiveKind::kAllgatherv || call.kind == CollectiveKind::kReduceScatter;
  if (rooted || (all && call.first_group != 0)) call.size = bytes(block(call.me, size));
  if (all || pairs || (rooted && call.me == call.root)) call.sizes = recorded.sizes;
  if (pairs) call.receive_sizes = recorded.receive_sizes;
}

bool is_rooted(CollectiveKind kind) {
  return kind == CollectiveKind::kReduce ||
         (kind >= CollectiveKind::kBcast && kind <= CollectiveKind::kScatterv);
}

/// What is different between groups: Reduce_scatter was recorded with blocks of one size, and the rest of the
/// root's group takes no part.
void fit_between_groups(Recorded& recorded, Bytes size) {
  CollectiveCall& call = recorded.call;
  const bool first = call.me < call.first_group;
  if (call.kind == CollectiveKind::kReduceScatter) {
    const std::int32_t own = first ? call.first_group : call.members - call.first_group;
    recorded.sizes.assign(static_cast<std::size_t>(own), count(size));
    call.sizes = recorded.sizes;
    call.size = bytes(count(size) * own);
  }
  const bool beside_root = first == (call.root < call.first_group) && call.me != call.root;
  if (is_rooted(call.kind) && beside_root) call.root = kNoMember;
}

/// The groups of "bcast|2": the first has 2 members. Cuts the text before the bar.
std::int32_t take_groups(std::string& kind) {
  const std::size_t bar = kind.find('|');
  if (bar == std::string::npos) return 0;
  const std::int32_t first_group = std::stoi(kind.substr(bar + 1));
  kind.resize(bar);
  return first_group;
}

Recorded parse_line(const std::string& line) {
  Recorded recorded;
  std::istringstream in{line};
  std::string kind;
  std::int64_t size = 0;
  char colon = 0;
  CollectiveCall& call = recorded.call;
  in >> kind >> call.members >> call.root >> size >> call.me >> colon;
  call.first_group = take_groups(kind);
  const std::size_t equals = kind.find('=');
  if (equals != std::string::npos) recorded.algorithm = kind.substr(equals + 1);
  const std::string name = kind.substr(0, equals);
  call.blocking = !name.starts_with('i');
  call.kind = kind_of(call.blocking ? name : name.substr(1));
  call.size = bytes(size);
  std::getline(in, recorded.sends);
  fill_sizes(recorded);
  if (call.first_group != 0) fit_between_groups(recorded, bytes(size));
  return recorded;
}

std::string sends_of(const CollectiveCall& call, const Selection& selection) {
  std::vector<Step> steps;
  append_steps(call, selection, steps);
  std::ostringstream out;
  for (const Step& step : steps) {
    if (step.send_to != kNoMember) out << ' ' << step.send_to << ':' << count(step.size);
  }
  return out.str();
}

/// Compares all lines of a recording; how many there were by kind.
std::map<CollectiveKind, int> expect_sends_of(const std::string& library, const std::string& file_name) {
  std::map<CollectiveKind, int> lines;
  std::ifstream file{NPLUS1_SENDS "/" + file_name};
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const Recorded recorded = parse_line(line);
    const auto forced = std::string{kind_name(recorded.call.kind)}.append("=").append(recorded.algorithm);
    const auto selection = Selection::parse(recorded.algorithm.empty() ? library : library + "," + forced);
    if (!selection) throw std::invalid_argument{selection.error().what};
    EXPECT_EQ(sends_of(recorded.call, selection.value()), recorded.sends)
        << line << "\nwith " << selection.value().choose(recorded.call).name;
    ++lines[recorded.call.kind];
  }
  return lines;
}

TEST(LibrarySchedules, SendWhatMpichSendsInTheSameOrder) {
  EXPECT_EQ(expect_sends_of("mpich", "mpich_sends.txt").size(), 15U)
      << "all kinds but gather, synchronize and the neighbourhood forms";
}

TEST(LibrarySchedules, SendWhatOpenMpiSendsInTheSameOrder) {
  EXPECT_EQ(expect_sends_of("openmpi", "openmpi_sends.txt").size(), 16U)
      << "all kinds but synchronize and the neighbourhood forms";
}

TEST(LibrarySchedules, SendWhatNonBlockingMpichSendsInTheSameOrder) {
  EXPECT_EQ(expect_sends_of("mpich", "mpich_nonblocking_sends.txt").size(), 16U)
      << "all kinds but synchronize and the neighbourhood forms";
}

TEST(LibrarySchedules, SendWhatNonBlockingOpenMpiSendsInTheSameOrder) {
  EXPECT_EQ(expect_sends_of("openmpi", "openmpi_nonblocking_sends.txt").size(), 16U)
      << "all kinds but synchronize and the neighbourhood forms";
}

TEST(LibrarySchedules, SendWhatMpichSendsBetweenGroupsInTheSameOrder) {
  EXPECT_EQ(expect_sends_of("mpich", "mpich_between_groups_sends.txt").size(), 14U)
      << "all kinds but the scans, synchronize and the neighbourhood forms";
}

TEST(LibrarySchedules, SendWhatSimGridSendsInTheSameOrder) {
  EXPECT_EQ(expect_sends_of("simgrid:default", "simgrid_sends.txt").size(), 11U)
      << "all kinds but the v forms, reduce_scatter, synchronize and the neighbourhood forms";
}

}  // namespace
}  // namespace nplus1::netmodel
