// patterns.json read back. nlohmann's exceptions say which key is missing or has the wrong type; they end
// here. Times come as doubles: a virtual time below two hours keeps its picosecond.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "patterns/patterns_json.hpp"

namespace nplus1::patterns {
namespace {

using nlohmann::json;

/// The document is JSON, but not what it should be; the message names the key.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

const json& member(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) throw Malformed{std::string{"the key '"} + key + "' is missing"};
  return *found;
}

/// Whether there is such a number, nlohmann would make one of any: of -1 a count, of 2^32 and 1 it would make 1, and of 1e300
/// whatever the processor does.
template <class T>
struct Numbers {
  static bool fit(const json& value) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return value.is_number_unsigned()
                 ? std::in_range<T>(value.get<std::uint64_t>())
                 : value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
    return true;
  }
};
template <class T>
struct Numbers<std::vector<T>> {
  static bool fit(const json& value) { return std::all_of(value.begin(), value.end(), Numbers<T>::fit); }
};
template <class A, class B>
struct Numbers<std::pair<A, B>> {
  static bool fit(const json& value) {
    return value.is_array() && value.size() == 2 && Numbers<A>::fit(value[0]) && Numbers<B>::fit(value[1]);
  }
};

template <class T>
T get(const json& object, const char* key) {
  const json& value = member(object, key);
  if (!Numbers<T>::fit(value)) {
    constexpr bool kCount = std::is_unsigned_v<T>;
    throw Malformed{std::string{"the key '"} + key +
                    (kCount ? "' is not a count" : "' has a value of the wrong type")};
  }
  try {
    return value.get<T>();
  } catch (const json::exception&) {
    throw Malformed{std::string{"the key '"} + key + "' has a value of the wrong type"};
  }
}

/// Half of what Duration holds, so that any two have a difference.
Duration time_of(double s, const char* key) {
  constexpr double kMost = 4e6;
  if (!(s >= -kMost && s <= kMost)) throw Malformed{std::string{"the key '"} + key + "' is no time"};
  return from_seconds(s);
}

/// Of many ranks: as much as Duration holds, where it is more.
Duration sum_of(double s, const char* key) {
  constexpr double kMost = 9.3e6;
  if (!(s >= 0 && s <= kMost)) throw Malformed{std::string{"the key '"} + key + "' is no sum of times"};
  return from_seconds(s);
}

Duration sum(const json& object, const char* key) {
  return sum_of(get<double>(object, key), key);
}

Duration time(const json& object, const char* key) {
  return time_of(get<double>(object, key), key);
}

template <class T>
std::optional<T> optional(const json& object, const char* key) {
  return member(object, key).is_null() ? std::nullopt : std::optional{get<T>(object, key)};
}

template <class Item, class Read>
std::vector<Item> list(const json& object, const char* key, Read read) {
  const json& array = member(object, key);
  if (!array.is_array()) throw Malformed{std::string{"the key '"} + key + "' is not a list"};
  std::vector<Item> items;
  items.reserve(array.size());
  for (const json& item : array) items.push_back(read(item));
  return items;
}

std::vector<Duration> times(const json& object, const char* key,
                            Duration (*of)(double, const char*) = time_of) {
  std::vector<Duration> result;
  for (const double s : get<std::vector<double>>(object, key)) result.push_back(of(s, key));
  return result;
}

using Counts = std::vector<std::uint64_t>;

void same_length(std::size_t length, std::size_t expected, const char* key) {
  if (length != expected)
    throw Malformed{std::string{"the list '"} + key + "' has " + std::to_string(length) + " entries, not " +
                    std::to_string(expected)};
}

template <class Item, class Field, class Values>
void set_column(std::vector<Item>& ranks, Field field, const Values& values, const char* key) {
  same_length(values.size(), ranks.size(), key);
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].*field = values[r];
}

std::vector<RankTotals> rank_totals(const json& object, std::size_t n) {
  same_length(member(object, "end_s").size(), n, "end_s");  // before anything is allocated by `ranks`
  std::vector<RankTotals> ranks(n);
  const auto durations = [&](const char* key, auto field) {
    set_column(ranks, field, times(object, key), key);
  };
  const auto counts = [&](const char* key, auto field) {
    set_column(ranks, field, get<Counts>(object, key), key);
  };
  durations("end_s", &RankTotals::end);
  for_each_total(durations, counts);
  counts("destinations", &RankTotals::destinations);
  counts("sources", &RankTotals::sources);
  counts("partners", &RankTotals::partners);
  return ranks;
}

void check_rank(std::int64_t rank, std::size_t n) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= n)
    throw Malformed{"a matrix names rank " + std::to_string(rank) + " of " + std::to_string(n)};
}

MatrixRow row(const json& object, std::size_t n) {
  MatrixRow row;
  row.source = get<std::int32_t>(object, "source");
  check_rank(row.source, n);
  const auto to = get<std::vector<std::int32_t>>(object, "destinations");
  const auto messages = get<Counts>(object, "messages");
  const auto sizes = get<Counts>(object, "bytes");
  same_length(messages.size(), to.size(), "messages");
  same_length(sizes.size(), to.size(), "bytes");
  for (std::size_t i = 0; i < to.size(); ++i) {
    check_rank(to[i], n);
    row.cells.push_back({to[i], messages[i], sizes[i]});
  }
  return row;
}

Sizes sizes(const json& object) {
  Sizes sizes;
  const auto buckets =
      list<std::uint64_t>(object, "buckets", [](const json& b) { return get<std::uint64_t>(b, "count"); });
  same_length(buckets.size(), kSizeBuckets, "buckets");
  std::copy(buckets.begin(), buckets.end(), sizes.buckets.begin());
  sizes.exact = get<std::vector<std::pair<std::int64_t, std::uint64_t>>>(object, "exact");
  sizes.others = get<std::uint64_t>(object, "others");
  sizes.least = optional<std::int64_t>(object, "least");
  sizes.most = optional<std::int64_t>(object, "most");
  sizes.sum = get<std::uint64_t>(object, "sum");
  return sizes;
}

Layer layer(const json& object, std::size_t n) {
  Layer layer;
  layer.name = get<std::string>(object, "name");
  layer.messages = get<std::uint64_t>(object, "messages");
  layer.bytes = get<std::uint64_t>(object, "bytes");
  layer.rows = list<MatrixRow>(object, "rows", [n](const json& r) { return row(r, n); });
  layer.sizes = sizes(member(object, "sizes"));
  if (object.contains("elements")) layer.elements = sizes(member(object, "elements"));
  return layer;
}

CollectiveUse collective(const json& object) {
  CollectiveUse use;
  use.name = get<std::string>(object, "name");
  use.layer = optional<std::string>(object, "layer");
  use.comm_size = get<std::uint32_t>(object, "comm_size");
  use.root = optional<std::int32_t>(object, "root");
  use.calls_per_rank = get<Counts>(object, "calls_per_rank");
  use.bytes = get<std::uint64_t>(object, "bytes");
  use.time = sum(object, "time_s");
  use.waiting = sum(object, "waiting_s");
  return use;
}

CommunicatorUse communicator(const json& object) {
  CommunicatorUse use;
  use.id = get<std::uint32_t>(object, "id");
  use.size = get<std::uint32_t>(object, "size");
  use.first_group = get<std::uint32_t>(object, "first_group");
  use.members = get<std::string>(object, "members");
  use.messages = get<std::uint64_t>(object, "messages");
  use.bytes = get<std::uint64_t>(object, "bytes");
  use.collective_calls = get<std::uint64_t>(object, "collective_calls");
  use.time = sum(object, "time_s");
  use.waiting = sum(object, "waiting_s");
  return use;
}

SiteFrame frame(const json& object) {
  return {get<std::string>(object, "function"), get<std::string>(object, "file"),
          get<std::uint32_t>(object, "line"), get<std::string>(object, "module"),
          get<std::uint64_t>(object, "offset")};
}

CallSiteUse call_site(const json& object) {
  CallSiteUse use;
  use.path = get<std::uint32_t>(object, "path");
  use.call = get<std::string>(object, "call");
  use.frames = list<SiteFrame>(object, "frames", frame);
  use.calls = get<std::uint64_t>(object, "calls");
  use.messages = get<std::uint64_t>(object, "messages");
  use.bytes = get<std::uint64_t>(object, "bytes");
  use.time = sum(object, "time_s");
  use.waiting = sum(object, "waiting_s");
  use.longest = time(object, "longest_s");
  return use;
}

OverTime over_time(const json& object) {
  OverTime bins;
  bins.bin = time(object, "bin_s");
  bins.messages = get<Counts>(object, "messages");
  bins.bytes = get<Counts>(object, "bytes");
  bins.collective_calls = get<Counts>(object, "collective_calls");
  bins.compute = times(object, "compute_s", sum_of);
  bins.mpi = times(object, "mpi_s", sum_of);
  bins.waiting = times(object, "waiting_s", sum_of);
  const std::size_t n = bins.messages.size();
  same_length(bins.bytes.size(), n, "bytes");
  same_length(bins.collective_calls.size(), n, "collective_calls");
  same_length(bins.compute.size(), n, "compute_s");
  same_length(bins.mpi.size(), n, "mpi_s");
  same_length(bins.waiting.size(), n, "waiting_s");
  if (bins.bin < Duration::zero() || (n > 0 && seconds(bins.bin) * static_cast<double>(n) > 8e6))
    throw Malformed{"the key 'bin_s' is no time that all bins have"};
  bins.ranks_per_row = get<std::uint32_t>(object, "ranks_per_row");
  bins.busy = get<std::vector<std::vector<double>>>(object, "busy");
  return bins;
}

UnmodelledUse unmodelled(const json& object) {
  UnmodelledUse use;
  use.calls = get<std::uint64_t>(object, "calls");
  use.time = sum(object, "time_s");
  use.share = get<double>(object, "share");
  use.by_name = list<std::pair<std::string, std::uint64_t>>(object, "by_name", [](const json& calls) {
    return std::pair{get<std::string>(calls, "name"), get<std::uint64_t>(calls, "count")};
  });
  return use;
}

FileCounts file_counts(const json& object) {
  FileCounts counts;
  for_each_file_count([&](const char* key, auto field) { counts.*field = sum(object, key); },
                      [&](const char* key, auto field) { counts.*field = get<std::uint64_t>(object, key); });
  return counts;
}

std::vector<FileCounts> file_counts_of_ranks(const json& object, std::size_t n) {
  std::vector<FileCounts> ranks(n);
  for_each_file_count(
      [&](const char* key, auto field) { set_column(ranks, field, times(object, key), key); },
      [&](const char* key, auto field) { set_column(ranks, field, get<Counts>(object, key), key); });
  return ranks;
}

std::vector<SystemCounts> system_counts(const json& object, std::size_t n) {
  std::vector<SystemCounts> ranks(n);
  for_each_system_count(
      [&](const char* key, auto field) { set_column(ranks, field, get<Counts>(object, key), key); });
  return ranks;
}

IoUse io(const json& object, std::size_t n) {
  IoUse use;
  use.files = list<FileUse>(object, "files", [](const json& file) {
    return FileUse{get<std::string>(file, "name"), file_counts(file)};
  });
  use.files_left_out = get<std::uint64_t>(object, "files_left_out");
  use.rank = file_counts_of_ranks(member(object, "rank"), n);
  if (object.contains("system")) use.system = system_counts(member(object, "system"), n);
  use.read_sizes = sizes(member(object, "read_sizes"));
  use.write_sizes = sizes(member(object, "write_sizes"));
  return use;
}

Renumbering renumbering(const json& object) {
  return {get<std::string>(object, "topology"), get<std::uint64_t>(object, "hop_bytes"),
          get<std::uint64_t>(object, "hop_bytes_after"),
          get<std::vector<std::int32_t>>(object, "place_of_rank")};
}

void check_schema(const std::string& schema) {
  constexpr std::string_view kName = "nplus1-patterns/";
  if (schema.rfind(kName, 0) != 0)
    throw Malformed{"its schema is '" + schema + "', not '" + kPatternsSchema + "'"};
  if (schema != kPatternsSchema)
    throw Malformed{"its schema is '" + schema + "'; this nplus1 knows '" + kPatternsSchema + "'"};
}

Patterns patterns(const json& document) {
  if (!document.is_object()) throw Malformed{"it is not a JSON object"};
  check_schema(get<std::string>(document, "schema"));
  Patterns p;
  p.application = get<std::string>(document, "application");
  p.network = get<std::string>(document, "network");
  p.complete = get<bool>(document, "complete");
  p.real_time = document.contains("clock") && get<std::string>(document, "clock") == "real";
  const auto n = get<std::size_t>(document, "ranks");
  p.rank = rank_totals(member(document, "rank"), n);
  p.layers = list<Layer>(document, "layers", [n](const json& l) { return layer(l, n); });
  if (p.layers.empty()) throw Malformed{"'layers' has no point_to_point"};
  if (document.contains("wire")) {
    p.wire = layer(member(document, "wire"), n);
    p.wire_collectives = get<std::string>(document, "wire_collectives");
  }
  p.unplaced_messages = get<std::uint64_t>(document, "unplaced_messages");
  p.collectives = list<CollectiveUse>(document, "collectives", collective);
  p.communicator_calls = list<CollectiveUse>(document, "communicator_calls", collective);
  p.communicators = list<CommunicatorUse>(document, "communicators", communicator);
  p.communicators_left_out = get<std::uint64_t>(document, "communicators_left_out");
  p.call_sites = list<CallSiteUse>(document, "call_sites", call_site);
  p.call_sites_left_out = get<std::uint64_t>(document, "call_sites_left_out");
  p.over_time = over_time(member(document, "over_time"));
  p.unmodelled = unmodelled(member(document, "unmodelled"));
  if (document.contains("io")) p.io = io(member(document, "io"), n);
  if (document.contains("renumbering")) p.renumbering = renumbering(member(document, "renumbering"));
  return p;
}

}  // namespace

Result<Patterns> parse_patterns(const std::string& text, const std::string& name) {
  try {
    return patterns(json::parse(text));
  } catch (const json::parse_error& error) {
    return Error{name + " is not JSON, or not whole: reading stopped at byte " + std::to_string(error.byte),
                 "make it again with nplus1 patterns --json from the recording"};
  } catch (const Malformed& error) {
    return Error{name + ": " + error.what(),
                 "use a patterns.json that this version of nplus1, or an older one, wrote"};
  } catch (const json::exception&) {
    return Error{name + ": a value has the wrong type",
                 "use a patterns.json that this version of nplus1, or an older one, wrote"};
  }
}

Result<Patterns> read_patterns(const std::filesystem::path& file) {
  std::ifstream stream{file, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{stream}, {}};
  if (!stream.is_open() || stream.bad() || std::filesystem::is_directory(file))
    return Error{"cannot read " + file.string() + ": " + std::strerror(errno),
                 "check the path and its permissions"};
  return parse_patterns(text, file.string());
}

}  // namespace nplus1::patterns
