// What one run's communication came to, as plain data: made by MessageStatistics, written and read as
// patterns.json, shown by first_screen() and compared by compare(). The meaning of each field, and its unit,
// is in docs/formats/patterns.md; a field has its key's name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "patterns/file_use.hpp"
#include "patterns/sizes.hpp"
#include "support/units.hpp"

namespace nplus1::patterns {

struct Cell {
  std::int32_t destination = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const Cell&, const Cell&) = default;
};

/// One sender's row of a sparse matrix; receivers ascend.
struct MatrixRow {
  std::int32_t source = 0;
  std::vector<Cell> cells;
  friend bool operator==(const MatrixRow&, const MatrixRow&) = default;
};

struct Layer {
  std::string name;  // "point_to_point", "bcast", ...
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::vector<MatrixRow> rows;  // senders ascend
  Sizes sizes;
  std::optional<Sizes> elements;
  friend bool operator==(const Layer&, const Layer&) = default;
};

/// One rank, or their sum (then without end and degrees).
struct RankTotals {
  Duration end{};
  Duration compute{};
  Duration mpi{};
  Duration waiting{};
  std::uint64_t messages_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t collective_calls = 0;
  std::uint64_t destinations = 0;
  std::uint64_t sources = 0;
  std::uint64_t partners = 0;
  friend bool operator==(const RankTotals&, const RankTotals&) = default;
};

/// Calls `time` with the key and the field of each duration that `rank` and `totals` of the document have, and `count` of each
/// number, in the order of the keys.
template <class Time, class Count>
void for_each_total(Time time, Count count) {
  time("compute_s", &RankTotals::compute);
  time("mpi_s", &RankTotals::mpi);
  time("waiting_s", &RankTotals::waiting);
  count("messages_sent", &RankTotals::messages_sent);
  count("bytes_sent", &RankTotals::bytes_sent);
  count("messages_received", &RankTotals::messages_received);
  count("bytes_received", &RankTotals::bytes_received);
  count("collective_calls", &RankTotals::collective_calls);
}

struct Imbalance {
  double compute = 0;
  Duration compute_time{};
  std::optional<std::int32_t> most_loaded_rank;
  double mpi = 0;
  double waiting = 0;
};

struct CollectiveUse {
  std::string name;                  // "MPI_Bcast"
  std::optional<std::string> layer;  // nothing for calls that create communicators
  std::uint32_t comm_size = 0;
  std::optional<std::int32_t> root;
  std::vector<std::uint64_t> calls_per_rank;
  std::uint64_t bytes = 0;
  Duration time{};
  Duration waiting{};
  [[nodiscard]] std::uint64_t calls() const;
  [[nodiscard]] std::uint64_t operations() const;
  friend bool operator==(const CollectiveUse&, const CollectiveUse&) = default;
};

struct CommunicatorUse {
  std::uint32_t id = 0;
  std::uint32_t size = 0;
  std::uint32_t first_group = 0;
  std::string members;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t collective_calls = 0;
  Duration time{};
  Duration waiting{};
  friend bool operator==(const CommunicatorUse&, const CommunicatorUse&) = default;
};

struct SiteFrame {
  std::string function;
  std::string file;
  std::uint32_t line = 0;
  std::string module;
  std::uint64_t offset = 0;
  friend bool operator==(const SiteFrame&, const SiteFrame&) = default;
};

struct CallSiteUse {
  std::uint32_t path = 0;
  std::string call;  // "MPI_Send"
  std::vector<SiteFrame> frames;
  std::uint64_t calls = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  Duration time{};
  Duration waiting{};
  Duration longest{};
  friend bool operator==(const CallSiteUse&, const CallSiteUse&) = default;
};

struct OverTime {
  Duration bin{};
  std::vector<std::uint64_t> messages;
  std::vector<std::uint64_t> bytes;
  std::vector<std::uint64_t> collective_calls;
  std::vector<Duration> compute;
  std::vector<Duration> mpi;
  std::vector<Duration> waiting;
  std::uint32_t ranks_per_row = 1;
  std::vector<std::vector<double>> busy;  // rounded to 4 decimals
  friend bool operator==(const OverTime&, const OverTime&) = default;
};

struct UnmodelledUse {
  std::uint64_t calls = 0;
  Duration time{};
  double share = 0;
  std::vector<std::pair<std::string, std::uint64_t>> by_name;
  friend bool operator==(const UnmodelledUse&, const UnmodelledUse&) = default;
};

struct Renumbering {
  std::string topology;
  std::uint64_t hop_bytes = 0;
  std::uint64_t hop_bytes_after = 0;
  std::vector<std::int32_t> place_of_rank;
  [[nodiscard]] double saving() const {
    return hop_bytes == 0 ? 0 : 1 - static_cast<double>(hop_bytes_after) / static_cast<double>(hop_bytes);
  }
  friend bool operator==(const Renumbering&, const Renumbering&) = default;
};

struct Patterns {
  std::string application;
  std::string network;
  bool complete = false;
  bool real_time = false;        // counted natively: no virtual time is meant anywhere
  std::vector<RankTotals> rank;  // one for each rank
  std::vector<Layer> layers;
  std::optional<Layer> wire;
  std::string wire_collectives;
  std::vector<CollectiveUse> collectives;
  std::vector<CollectiveUse> communicator_calls;
  std::vector<CommunicatorUse> communicators;
  std::uint64_t communicators_left_out = 0;
  std::vector<CallSiteUse> call_sites;
  std::uint64_t call_sites_left_out = 0;
  std::uint64_t unplaced_messages = 0;
  OverTime over_time;
  UnmodelledUse unmodelled;
  std::optional<IoUse> io;  // nothing if no file was used
  std::optional<Renumbering> renumbering;

  [[nodiscard]] std::size_t ranks() const { return rank.size(); }
  [[nodiscard]] Duration virtual_time() const;  // the latest rank's end
  [[nodiscard]] RankTotals totals() const;
  [[nodiscard]] Imbalance imbalance() const;
  friend bool operator==(const Patterns&, const Patterns&) = default;
};

}  // namespace nplus1::patterns
