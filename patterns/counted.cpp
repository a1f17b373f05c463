#include "patterns/counted.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "events/frame_text.hpp"
#include "events/mpi_call.hpp"
#include "patterns/call_sites.hpp"
#include "patterns/collective_fans.hpp"
#include "patterns/communicators.hpp"
#include "patterns/file_statistics.hpp"
#include "patterns/layers.hpp"
#include "patterns/size_counts.hpp"
#include "patterns/time_bins.hpp"
#include "support/time_sum.hpp"

namespace nplus1::patterns {
namespace {

namespace page = events::statistics;
using page::RankPage;

constexpr std::size_t kMostCommunicatorsListed = 1000, kMostSitesListed = 5000;
/// Numbers in memory, of one kind: a file may claim any number of ranks.
constexpr std::size_t kMostNumbers = std::size_t{1} << 26U;

/// A rank's times must fit where they are summed, and the counts of all ranks. Times of all ranks are at most what a
/// Duration holds (sum_up()).
struct Sums {
  double longest = 0, counts = 0;

  void add(const RankPage& rank) {
    double seconds = 0;
    const double tick = rank.header.ns_per_tick * 1e-9;
    for (const page::Site& s : rank.sites) {
      seconds += (static_cast<double>(s.ticks) + static_cast<double>(s.longest_ticks)) * tick;
      add_counts({s.calls, s.messages, s.bytes});
    }
    for (const page::Collective& c : rank.collectives) {
      seconds += static_cast<double>(c.ticks) * tick;
      add_counts({c.calls, c.bytes});
    }
    for (const page::Communicator& c : rank.communicators) {
      seconds += (static_cast<double>(c.ticks) + static_cast<double>(c.waiting_ticks)) * tick;
      add_counts({c.messages, c.bytes, c.collective_calls});
    }
    for (const page::Peer& p : rank.peers) add_counts({p.messages, p.bytes});
    for (const page::Size& s : rank.sizes) {
      counts += static_cast<double>(s.bytes) * static_cast<double>(s.count);
      add_counts({s.bytes, s.count});
    }
    const page::Header& h = rank.header;
    std::int64_t last = std::max(h.end_tick, h.begin_tick);
    for (const page::ThreadState& t : rank.threads) last = std::max(last, t.since_tick);
    seconds += (static_cast<double>(last) - static_cast<double>(h.begin_tick)) * tick;
    longest = std::max(longest, seconds);
  }
  [[nodiscard]] bool fit() const { return longest < 4e6 && counts < 4e18; }  // of 9.2e6 s and 9.2e18

 private:
  void add_counts(std::initializer_list<std::uint64_t> all) {
    for (const std::uint64_t n : all) counts += static_cast<double>(n);
  }
};

Duration time_of(const RankPage& rank, std::uint64_t ticks) {
  return Duration{static_cast<std::int64_t>(static_cast<double>(ticks) * rank.header.ns_per_tick * 1000.0)};
}

/// Calls whose whole time counts as waiting: nobody knows natively what of it is the call's own.
bool waits(std::uint16_t call) {
  using events::MpiCall;
  switch (static_cast<MpiCall>(call)) {
    case MpiCall::MPI_Send:
    case MpiCall::MPI_Send_c:
    case MpiCall::MPI_Ssend:
    case MpiCall::MPI_Ssend_c:
    case MpiCall::MPI_Bsend:
    case MpiCall::MPI_Bsend_c:
    case MpiCall::MPI_Rsend:
    case MpiCall::MPI_Rsend_c:
    case MpiCall::MPI_Recv:
    case MpiCall::MPI_Recv_c:
    case MpiCall::MPI_Mrecv:
    case MpiCall::MPI_Mrecv_c:
    case MpiCall::MPI_Sendrecv:
    case MpiCall::MPI_Sendrecv_c:
    case MpiCall::MPI_Sendrecv_replace:
    case MpiCall::MPI_Sendrecv_replace_c:
    case MpiCall::MPI_Probe:
    case MpiCall::MPI_Mprobe:
    case MpiCall::MPI_Wait:
    case MpiCall::MPI_Waitall:
    case MpiCall::MPI_Waitany:
    case MpiCall::MPI_Waitsome:
      return true;
    default:
      return false;
  }
}

/// Sizes of a layer, over all ranks.
class SizesOfLayer {
 public:
  void add(std::int64_t size, std::uint64_t count) { exact_[size] += count; }
  [[nodiscard]] Sizes sizes() const {
    Sizes sizes;
    for (const auto& [size, count] : exact_) {
      sizes.buckets[size_bucket(size)] += count;
      sizes.sum += static_cast<std::uint64_t>(size) * count;
      if (sizes.exact.size() < kExactSizes)
        sizes.exact.emplace_back(size, count);
      else
        sizes.others += count;
    }
    if (!exact_.empty()) {
      sizes.least = exact_.begin()->first;
      sizes.most = exact_.rbegin()->first;
    }
    return sizes;
  }

 private:
  std::map<std::int64_t, std::uint64_t> exact_;
};

std::string name_of_layer(std::uint64_t layer) {
  if (layer == page::kPointToPointLayer) return std::string{kPointToPoint};
  if (layer > static_cast<std::uint64_t>(CollectiveKind::kSynchronize)) return {};
  return std::string{layer_name(static_cast<CollectiveKind>(layer - 1))};
}

struct Cells {
  std::map<std::pair<std::int32_t, std::int32_t>, Cell> all;
  SizesOfLayer sizes;
};

Layer layer_of(const std::string& name, const Cells& cells) {
  Layer layer;
  layer.name = name;
  for (const auto& [ends, cell] : cells.all) {
    if (layer.rows.empty() || layer.rows.back().source != ends.first) layer.rows.push_back({ends.first, {}});
    layer.rows.back().cells.push_back(cell);
  }
  layer.sizes = cells.sizes.sizes();
  add_up(layer);
  return layer;
}

std::vector<Layer> layers_of(const std::vector<RankPage>& pages) {
  std::map<std::string, Cells> layers;
  for (const RankPage& rank : pages) {
    for (const page::Peer& peer : rank.peers) {
      const auto other = static_cast<std::int32_t>(peer.key & 0xffffffffU);
      const bool incoming = (peer.key >> 32U & 1U) != 0;
      const std::string name = name_of_layer((peer.key >> 40U) - 1);
      if (name.empty() || other < 0 || other >= rank.header.ranks) continue;
      const auto from = incoming ? other : rank.header.rank;
      const auto to = incoming ? rank.header.rank : other;
      Cell& cell = layers[name].all[{from, to}];
      cell.destination = to;
      cell.messages += peer.messages;
      cell.bytes += peer.bytes;
    }
    for (const page::Size& size : rank.sizes)
      if (const std::string name = name_of_layer(size.layer - 1); !name.empty())
        layers[name].sizes.add(static_cast<std::int64_t>(size.bytes), size.count);
  }
  const std::string first{kPointToPoint};
  std::vector<Layer> all{layer_of(first, layers[first])};
  for (const auto& [name, cells] : layers)
    if (name != first) all.push_back(layer_of(name, cells));
  return all;
}

/// Zero if the end is the earlier: a damaged file may say so, with any numbers.
std::uint64_t ticks_between(std::int64_t begin, std::int64_t end) {
  return end > begin ? static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin) : 0;
}

std::vector<RankTotals> totals_of(const std::vector<RankPage>& pages, const Layer& sent, std::size_t ranks) {
  std::vector<RankTotals> totals(ranks);
  for (const RankPage& rank : pages) {
    RankTotals& mine = totals[static_cast<std::size_t>(rank.header.rank)];
    std::int64_t last = rank.header.begin_tick;
    for (const page::ThreadState& t : rank.threads) last = std::max(last, t.since_tick);
    if (rank.header.end_tick != 0) last = rank.header.end_tick;
    mine.end = time_of(rank, ticks_between(rank.header.begin_tick, last));
    for (const page::Site& site : rank.sites) {
      sum_up(mine.mpi, time_of(rank, site.ticks));
      if (waits(static_cast<std::uint16_t>(site.key & 0xffffU)))
        sum_up(mine.waiting, time_of(rank, site.ticks));
    }
    for (const page::Collective& c : rank.collectives) {
      if ((c.key >> 32U & 0xffU) < static_cast<std::uint64_t>(CollectiveKind::kSynchronize))
        mine.collective_calls += c.calls;
      if ((c.key >> 40U & 1U) != 0) sum_up(mine.waiting, time_of(rank, c.ticks));
    }
    mine.compute = std::max(Duration::zero(), mine.end - mine.mpi);
  }
  add_traffic(sent, totals);
  return totals;
}

void add_collectives(const std::vector<RankPage>& pages, std::size_t ranks, Patterns& patterns) {
  std::map<std::tuple<std::string, std::uint32_t, std::int64_t, std::string_view>, CollectiveUse> named;
  for (const RankPage& rank : pages) {
    for (const page::Collective& c : rank.collectives) {
      const std::uint64_t kind = c.key >> 32U & 0xffU;
      if (kind > static_cast<std::uint64_t>(CollectiveKind::kSynchronize)) continue;
      const std::string_view layer = layer_name(static_cast<CollectiveKind>(kind));
      const std::string name = call_name(static_cast<std::uint16_t>((c.key >> 48U) - 1));
      const auto size = static_cast<std::uint32_t>(c.key & 0xffffffffU);
      const auto root = static_cast<std::int64_t>(c.root) - 1;
      CollectiveUse& use = named[{name, size, root, layer}];
      use.name = name;
      if (!layer.empty()) use.layer = layer;
      use.comm_size = size;
      if (root >= 0) use.root = static_cast<std::int32_t>(root);
      use.calls_per_rank.resize(ranks);
      use.calls_per_rank[static_cast<std::size_t>(rank.header.rank)] += c.calls;
      use.bytes += c.bytes;
      sum_up(use.time, time_of(rank, c.ticks));
      if ((c.key >> 40U & 1U) != 0) sum_up(use.waiting, time_of(rank, c.ticks));
    }
  }
  for (auto& [key, use] : named)
    (use.layer ? patterns.collectives : patterns.communicator_calls).push_back(std::move(use));
}

/// A communicator's members as text, once for each list: all ranks of a job name the same ones.
class MemberLists {
 public:
  /// Null where all lists together are longer than those of a real job.
  const std::string* list(const RankPage& rank, const page::Communicator& c) {
    const std::size_t at = c.members - std::size_t{1};
    const bool sound = c.members > 0 && at <= rank.ranges.size() && c.ranges <= rank.ranges.size() - at;
    const auto* first = reinterpret_cast<const char*>(rank.ranges.data() + (sound ? at : 0));
    const std::string key{first, sound ? c.ranges * sizeof(page::MemberRange) : 0};
    const auto known = lists_.find(key);
    if (known != lists_.end()) return &known->second;
    std::vector<RankId> members;
    for (const std::int32_t m : rank.members(c.members, c.ranges)) members.emplace_back(m);
    members_ += members.size();
    if (members_ > kMostNumbers / 4) return nullptr;
    return &lists_.emplace(key, rank_list(members)).first->second;
  }

 private:
  std::map<std::string, std::string> lists_;
  std::size_t members_ = 0;
};

/// Communicators with the same members are one here. Numbered in the order of their members, after the world.
/// False where they are too many.
bool add_communicators(const std::vector<RankPage>& pages, std::size_t ranks, Patterns& patterns) {
  std::vector<RankId> world;
  for (std::size_t r = 0; r < ranks; ++r) world.emplace_back(static_cast<std::int32_t>(r));
  const std::string all = rank_list(world);
  MemberLists lists;
  std::map<std::tuple<bool, std::string, std::uint32_t>, CommunicatorUse> used;
  for (const RankPage& rank : pages) {
    for (const page::Communicator& c : rank.communicators) {
      if (c.ticks == 0) continue;
      const std::string* const known = lists.list(rank, c);
      if (known == nullptr) return false;
      const std::string& list = *known;
      CommunicatorUse& use = used[{list != all || c.first_group > 0, list, c.first_group}];
      use.size = c.size;
      use.first_group = c.first_group;
      use.members = list;
      use.messages += c.messages;
      use.bytes += c.bytes;
      use.collective_calls += c.collective_calls;
      sum_up(use.time, time_of(rank, c.ticks));
      sum_up(use.waiting, time_of(rank, c.waiting_ticks));
    }
  }
  std::uint32_t id = used.empty() || std::get<0>(used.begin()->first) ? 1 : 0;
  for (auto& [key, use] : used) {
    use.id = id++;
    patterns.communicators.push_back(std::move(use));
  }
  const std::size_t n = patterns.communicators.size();
  if (n <= kMostCommunicatorsListed) return true;
  std::stable_sort(patterns.communicators.begin(), patterns.communicators.end(),
                   [](const CommunicatorUse& a, const CommunicatorUse& b) { return a.time > b.time; });
  patterns.communicators.resize(kMostCommunicatorsListed);
  patterns.communicators_left_out = n - kMostCommunicatorsListed;
  return true;
}

std::vector<SiteFrame> frames_of_path(const std::string& text) {
  std::vector<SiteFrame> frames;
  for (const events::Frame& f : events::frames_of(text))
    frames.push_back({f.function, f.file, f.line, f.module, f.offset});
  return frames;
}

void add_call_sites(const std::vector<RankPage>& pages, Patterns& patterns) {
  std::map<std::string, std::uint32_t> paths;
  std::map<std::pair<std::uint32_t, std::string>, CallSiteUse> sites;
  for (const RankPage& rank : pages) {
    std::set<std::uint64_t> blocking;
    for (const page::Collective& c : rank.collectives)
      if ((c.key >> 40U & 1U) != 0) blocking.insert((c.key >> 48U) - 1);
    for (const page::Site& site : rank.sites) {
      const std::uint64_t path = (site.key >> 16U) - 1;
      const auto call = static_cast<std::uint16_t>(site.key & 0xffffU);
      const std::string frames = path == 0 || path > rank.paths.size() ? "" : rank.paths[path - 1];
      std::uint32_t number = 0;
      if (!frames.empty())
        number = paths.emplace(frames, static_cast<std::uint32_t>(paths.size() + 1)).first->second;
      const std::string name = call_name(call);
      CallSiteUse& use = sites[{number, name}];
      use.path = number;
      use.call = name;
      if (use.frames.empty()) use.frames = frames_of_path(frames);
      use.calls += site.calls;
      if (!is_file_call(call)) use.messages += site.messages;
      use.bytes += site.bytes;
      sum_up(use.time, time_of(rank, site.ticks));
      if (waits(call) || blocking.count(call) > 0) sum_up(use.waiting, time_of(rank, site.ticks));
      use.longest = std::max(use.longest, time_of(rank, site.longest_ticks));
    }
  }
  for (auto& [key, use] : sites) patterns.call_sites.push_back(std::move(use));
  std::stable_sort(patterns.call_sites.begin(), patterns.call_sites.end(),
                   [](const CallSiteUse& a, const CallSiteUse& b) { return a.time > b.time; });
  if (patterns.call_sites.size() <= kMostSitesListed) return;
  patterns.call_sites_left_out = patterns.call_sites.size() - kMostSitesListed;
  patterns.call_sites.resize(kMostSitesListed);
}

/// One function of MPI-IO: what it moves, and whether all members call it.
struct FileAccess {
  bool opens = false, reads = false, writes = false, collective = false;
};

FileAccess access_of(std::string_view call) {
  const auto has = [&](std::string_view word) { return call.find(word) != std::string_view::npos; };
  return {call == "MPI_File_open", has("File_read") || has("File_iread"),
          has("File_write") || has("File_iwrite"), has("_all") || has("_ordered")};
}

void add_site(const RankPage& rank, const page::Site& site, FileCounts& counts) {
  const FileAccess access = access_of(call_name(static_cast<std::uint16_t>(site.key & 0xffffU)));
  sum_up(counts.time, time_of(rank, site.ticks));
  if (access.opens) counts.opens += site.messages;
  if (access.reads) counts.reads += site.messages, counts.bytes_read += site.bytes;
  if (access.writes) counts.writes += site.messages, counts.bytes_written += site.bytes;
  if (access.collective) counts.collective += site.messages;
}

/// By rank and size: natively nobody follows which file a call is about.
void add_files(const std::vector<RankPage>& pages, std::size_t ranks, Patterns& patterns) {
  IoUse use;
  use.rank.resize(ranks);
  bool any = false;
  SizesOfLayer reads, writes;
  for (const RankPage& rank : pages) {
    for (const page::Site& site : rank.sites) {
      if (!is_file_call(static_cast<std::uint16_t>(site.key & 0xffffU))) continue;
      any = true;
      add_site(rank, site, use.rank[static_cast<std::size_t>(rank.header.rank)]);
    }
    for (const page::Size& size : rank.sizes) {
      if (size.layer == page::kReadLayer + 1) reads.add(static_cast<std::int64_t>(size.bytes), size.count);
      if (size.layer == page::kWriteLayer + 1) writes.add(static_cast<std::int64_t>(size.bytes), size.count);
    }
  }
  use.read_sizes = reads.sizes();
  use.write_sizes = writes.sizes();
  if (any) patterns.io = std::move(use);
}

/// What is kept for each rank: its totals, and its calls of each collective.
bool fits_in_memory(const std::vector<RankPage>& pages) {
  constexpr std::size_t kColumns = 25;
  std::set<std::pair<std::uint64_t, std::uint64_t>> collectives;
  for (const RankPage& rank : pages)
    for (const page::Collective& c : rank.collectives) collectives.emplace(c.key, c.root);
  const auto ranks = static_cast<std::size_t>(pages.front().header.ranks);
  return ranks <= kMostNumbers / (kColumns + collectives.size());
}

Error too_large() {
  return {"there are more ranks, collectives or members of communicators than patterns can be made of",
          "nplus1 where shows what each rank does"};
}

}  // namespace

Result<Patterns> counted_patterns(const std::vector<RankPage>& pages) {
  Sums sums;
  for (const RankPage& rank : pages) sums.add(rank);
  if (!sums.fit())
    return Error{
        "the times of a rank, or the counts of all together, are beyond what can be summed (46 days, 4e18)",
        "nplus1 where shows what each rank does"};
  if (!fits_in_memory(pages)) return too_large();
  Patterns patterns;
  const auto ranks = static_cast<std::size_t>(pages.front().header.ranks);
  const std::string program = pages.front().header.program;
  patterns.application = program.substr(program.find_last_of('/') + 1);
  patterns.real_time = true;
  patterns.complete = pages.size() == ranks && std::all_of(pages.begin(), pages.end(), [](const RankPage& p) {
                        return p.header.state == page::PageState::kFinalized;
                      });
  patterns.layers = layers_of(pages);
  patterns.rank = totals_of(pages, patterns.layers.front(), ranks);
  add_collectives(pages, ranks, patterns);
  if (!add_communicators(pages, ranks, patterns)) return too_large();
  add_call_sites(pages, patterns);
  add_files(pages, ranks, patterns);
  for (const RankPage& rank : pages) patterns.unplaced_messages += rank.header.unplaced;
  patterns.over_time = TimeBins{ranks}.result();
  return patterns;
}

}  // namespace nplus1::patterns
