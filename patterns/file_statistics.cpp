#include "patterns/file_statistics.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "events/mpi_call.hpp"
#include "support/time_sum.hpp"

namespace nplus1::patterns {
namespace {

using events::EventKind;
using events::FileOperation;

constexpr std::size_t kMostFiles = 1000;  // in the result
constexpr std::size_t kSystemNumbers = 4;

void add(FileCounts& sum, const FileCounts& other) {
  for_each_file_count([&](const char*, auto field) { sum_up(sum.*field, other.*field); },
                      [&](const char*, auto field) { sum.*field += other.*field; });
}

FileCounts counted(const events::Event& event) {
  FileCounts counts;
  counts.opens = events::names_file(event) ? 1 : 0;
  if (!events::moves_file_bytes(event)) return counts;
  const auto bytes = static_cast<std::uint64_t>(event.size);
  const bool reads = event.file_operation() == FileOperation::kRead;
  (reads ? counts.reads : counts.writes) = 1;
  (reads ? counts.bytes_read : counts.bytes_written) = bytes;
  counts.collective = (event.tag & events::kCollectiveAccess) != 0 ? 1 : 0;
  counts.scattered = (event.tag & events::kScatteredAccess) != 0 ? 1 : 0;
  return counts;
}

}  // namespace

const std::vector<std::uint8_t>& file_calls() {
  static const std::vector<std::uint8_t> all = [] {
    std::vector<std::uint8_t> is_one(std::size_t{std::numeric_limits<std::uint16_t>::max()} + 1);
    for (std::size_t call = 0; call < is_one.size(); ++call)
      is_one[call] = events::name(static_cast<events::MpiCall>(call)).starts_with("MPI_File_") ? 1 : 0;
    return is_one;
  }();
  return all;
}

Duration behind_others(const events::TimedEvent& event, Duration time) {
  const auto most = static_cast<std::uint64_t>(std::max(Duration::zero(), time).count());
  return Duration{static_cast<std::int64_t>(std::min(event.answer.aux, most))};
}

bool begins_file_call(const events::Event& event) {
  if (event.kind != EventKind::kFileAccess || (event.tag & events::kMeetFirst) != 0) return true;
  if (event.file_operation() == FileOperation::kTurn) return true;
  return (event.tag & (events::kCollectiveAccess | events::kInTurn)) == 0;
}

/// Null for a communicator that is no file.
FileCounts* FileStatistics::of_file(const events::Event& event) {
  if (events::names_file(event)) open_[event.comm.value] = static_cast<std::uint32_t>(event.aux);
  const auto open = open_.find(event.comm.value);
  return open == open_.end() ? nullptr : &files_[open->second];
}

void FileStatistics::count_file_call(const events::TimedEvent& timed, Duration time, Duration waiting) {
  const events::Event& event = timed.event;
  const bool accesses = event.kind == EventKind::kFileAccess;
  any_ = true;
  FileCounts counts = accesses ? counted(event) : FileCounts{};
  counts.time = time;
  counts.waiting = waiting;
  if (events::moves_file_bytes(event)) (counts.reads > 0 ? read_sizes_ : write_sizes_).add(event.size);
  add(rank_.at(timed.rank.index()), counts);
  if (FileCounts* file = of_file(event)) add(*file, counts);
}

void FileStatistics::count_end(const events::TimedEvent& timed) {
  const auto numbers = timed.extension.sizes;
  if (numbers.size() != kSystemNumbers) return;
  if (system_.empty()) system_.resize(rank_.size());
  const auto number = [&](std::size_t i) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, numbers[i]));
  };
  system_.at(timed.rank.index()) = {number(0), number(1), number(2), number(3)};
}

std::optional<IoUse> FileStatistics::use() const {
  if (!any_ && system_.empty()) return std::nullopt;
  IoUse use;
  for (const auto& [name, counts] : files_) {
    const auto known = names_.find(name);
    use.files.push_back({known == names_.end() ? std::string{} : known->second, counts});
  }
  std::sort(use.files.begin(), use.files.end(), [](const FileUse& a, const FileUse& b) {
    const auto bytes = [](const FileUse& f) { return f.counts.bytes_read + f.counts.bytes_written; };
    return bytes(a) != bytes(b) ? bytes(a) > bytes(b) : a.name < b.name;
  });
  use.files_left_out = use.files.size() > kMostFiles ? use.files.size() - kMostFiles : 0;
  use.files.resize(use.files.size() - use.files_left_out);
  use.rank = rank_;
  use.system = system_;
  use.read_sizes = read_sizes_.sizes();
  use.write_sizes = write_sizes_.sizes();
  return use;
}

FileCounts IoUse::totals() const {
  FileCounts sum;
  for (const FileCounts& counts : rank) add(sum, counts);
  return sum;
}

SystemCounts IoUse::system_totals() const {
  SystemCounts sum;
  for (const SystemCounts& counts : system)
    for_each_system_count([&](const char*, auto field) { sum.*field += counts.*field; });
  return sum;
}

}  // namespace nplus1::patterns
