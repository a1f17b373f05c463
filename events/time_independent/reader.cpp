#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "events/checked_sink.hpp"
#include "events/exchange/new_file.hpp"
#include "events/exchange/untimed_events.hpp"
#include "events/time_independent/time_independent.hpp"

namespace nplus1::events::time_independent {
namespace {

namespace fs = std::filesystem;
using exchange::Imported;
using exchange::UntimedEvents;
using Kind = CollectiveKind;
using Words = std::vector<std::string>;

constexpr const char* kRemedy =
    "docs/formats/exchange.md says which actions are read; make the trace again if it was cut";

/// What is wrong with a line.
struct Wrong {
  std::string what;
};

std::int64_t number(const std::string& word) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || stop != word.data() + word.size())
    throw Wrong{"\"" + word.substr(0, 40) + "\" is no integer"};
  return value;
}

double real(const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (end != word.c_str() + word.size() || !std::isfinite(value) || value < 0)
    throw Wrong{"\"" + word.substr(0, 40) + "\" is no amount of computing"};
  return value;
}

Words split(const std::string& line) {
  Words words;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != std::string::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

/// SMPI's numbers of the datatypes: double, int, char, short, long, float, byte.
std::int64_t bytes_of(const std::string& datatype) {
  constexpr std::int64_t kBytes[] = {8, 4, 1, 2, 8, 4, 1};
  const std::int64_t id = number(datatype);
  if (id < 0 || id >= static_cast<std::int64_t>(std::size(kBytes)))
    throw Wrong{"there is no datatype " + datatype};
  return kBytes[id];
}

/// The words of one action, taken one after another.
class Arguments {
 public:
  Arguments(const Words& words, std::int64_t default_bytes) : words_{words}, default_bytes_{default_bytes} {}

  std::int64_t next() {
    if (at_ >= words_.size()) throw Wrong{"action \"" + words_[1] + "\" lacks arguments"};
    return number(words_[at_++]);
  }
  std::int64_t next_size() {
    const std::int64_t size = next();
    if (size < 0 || size > (std::int64_t{1} << 59)) throw Wrong{"there is no size " + words_[at_ - 1]};
    return size;
  }
  /// Of a receive: -1 is whatever comes, which is 0 in our events.
  std::int64_t next_room() {
    if (at_ >= words_.size() || words_[at_] != "-1") return next_size();
    ++at_;
    return 0;
  }
  std::int32_t next_rank() {
    const std::int64_t rank = next();
    if (rank < -1 || rank >= exchange::kMaxRanks) throw Wrong{"there is no rank " + words_[at_ - 1]};
    return static_cast<std::int32_t>(rank);
  }
  std::int32_t next_tag() {
    const std::int64_t tag = next();
    if (tag < -1 || tag > std::numeric_limits<std::int32_t>::max())
      throw Wrong{"there is no tag " + words_[at_ - 1]};
    return static_cast<std::int32_t>(tag);
  }
  std::vector<std::int64_t> next_list(std::size_t count) {
    std::vector<std::int64_t> sizes;
    for (std::size_t i = 0; i < count; ++i) sizes.push_back(next_size());
    return sizes;
  }
  /// Bytes of an element: of the datatype named next, or of the default one.
  std::int64_t unit() { return at_ < words_.size() ? bytes_of(words_[at_++]) : default_bytes_; }

 private:
  const Words& words_;
  std::int64_t default_bytes_;
  std::size_t at_ = 2;
};

/// A list's elements in bytes, and how many they are together: as many as no reader takes, if they are more than that.
std::int64_t scale(std::vector<std::int64_t>& sizes, std::int64_t unit) {
  constexpr std::int64_t kBeyond = kMostBytes + 1;
  std::int64_t whole = 0;
  for (std::int64_t& size : sizes) {
    size *= unit;
    whole = std::min(whole + std::min(size, kBeyond), kBeyond);
  }
  return whole;
}

class TraceReader final : public exchange::Importer {
 public:
  TraceReader(std::vector<fs::path> files, double rate) : files_{std::move(files)}, rate_{rate} {}

  /// One look at all ranks.
  Result<exchange::Done> scan() {
    std::int64_t last = -1;
    auto done = for_each([&](const Words& words) { last = std::max(last, rank_in(words)); });
    if (done && last < 0) return Error{files_.front().string() + ": no action in it", kRemedy};
    if (done && last >= most_ranks(bytes()))
      return Error{
          fmt::format("{}: more ranks than the files have room for: {}", files_.front().string(), last + 1),
          kRemedy};
    preamble_.ranks = static_cast<std::int32_t>(last + 1);
    return done;
  }

  const exchange::Preamble& preamble() const override { return preamble_; }

  Result<Imported> read(EventSink& sink) override {
    CheckedSink checked{preamble_.ranks, bytes(), sink};
    UntimedEvents events{preamble_.ranks, checked};
    ranks_.resize(static_cast<std::size_t>(preamble_.ranks));
    const auto done = for_each([&](const Words& words) {
      act(words, events);
      if (checked.trouble()) throw Wrong{*checked.trouble()};
    });
    if (!done) return done.error();
    return Imported{
        checked.events(),
        checked.matches(),
        {"times other than those of computing: calls take none", "communicators other than MPI_COMM_WORLD",
         "send modes, wildcards, probes, datatypes, hashes, buffers, call paths"}};
  }

 private:
  using Key = std::tuple<std::int32_t, std::int32_t, std::int32_t>;  // source, destination, tag
  struct Rank {
    std::int64_t unit = 1;
    std::map<Key, std::deque<std::uint32_t>> started;
  };

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const fs::path& file : files_) {
      std::error_code failed;
      const std::uintmax_t size = fs::file_size(file, failed);
      sum += failed ? 0 : size;
    }
    return sum;
  }

  static std::int64_t rank_in(const Words& words) {
    if (words.size() < 2) throw Wrong{"a line is a rank, an action and its arguments"};
    const std::int64_t rank = number(words[0]);
    if (rank < 0 || rank >= exchange::kMaxRanks) throw Wrong{"there is no rank " + words[0]};
    return rank;
  }

  Result<exchange::Done> for_each(const std::function<void(const Words&)>& take) {
    for (const fs::path& file : files_) {
      std::ifstream stream{file};
      if (!stream)
        return Error{file.string() + ": cannot be read",
                     "smpirun and nplus1 look for it from the current folder"};
      std::string line;
      for (std::uint64_t count = 1; std::getline(stream, line); ++count) {
        const Words words = split(line);
        try {
          if (stream.eof()) throw Wrong{"the file ends within a line"};
          if (!words.empty() && words[0][0] != '#') take(words);
        } catch (const Wrong& wrong) {
          return Error{fmt::format("{}:{}: {}", file.string(), count, wrong.what), kRemedy};
        }
      }
    }
    return exchange::Done{};
  }

  void act(const Words& words, UntimedEvents& events) {
    const RankId id{static_cast<std::int32_t>(rank_in(words))};
    Rank& rank = ranks_[id.index()];
    Arguments arguments{words, rank.unit};
    const std::string& action = words[1];
    if (action == "init") {
      rank.unit = words.size() > 2 ? 8 : 1;  // SMPI: an argument asks for doubles
    } else if (action == "finalize") {
      events.finalize(id);
    } else if (action == "compute" || action == "sleep") {
      if (words.size() < 3) throw Wrong{"how much?"};
      compute(id, real(words[2]) / (action == "compute" ? rate_ : 1.0), events);
    } else if (action == "send" || action == "recv" || action == "isend" || action == "irecv") {
      transfer(id, action, arguments, events);
    } else if (action == "sendrecv" || action == "location" || action.rfind("comm_", 0) == 0) {
      if (action == "sendrecv") throw Wrong{"action \"sendrecv\" is not read"};
    } else if (action == "wait" || action == "test") {
      complete(id, action == "wait", arguments, events);
    } else if (action == "waitall") {
      wait_all(id, events);
    } else {
      collective(id, action, arguments, events);
    }
  }

  static void compute(RankId rank, double seconds, UntimedEvents& events) {
    if (seconds > 1e6) throw Wrong{fmt::format("computing for {} s is more than a trace can hold", seconds)};
    events.compute(rank, from_seconds(seconds));
  }

  void transfer(RankId id, const std::string& action, Arguments& arguments, UntimedEvents& events) {
    const std::int32_t peer = arguments.next_rank();
    const std::int32_t tag = arguments.next_tag();
    const bool receives = action == "recv" || action == "irecv";
    const std::int64_t size = (receives ? arguments.next_room() : arguments.next_size()) * arguments.unit();
    auto& started = ranks_[id.index()].started;
    if (action == "send") events.send(id, peer, tag, size);
    if (action == "recv") events.receive(id, peer, tag, size);
    if (action == "isend") started[{id.value, peer, tag}].push_back(events.start_send(id, peer, tag, size));
    if (action == "irecv")
      started[{peer, id.value, tag}].push_back(events.start_receive(id, peer, tag, size));
  }

  void complete(RankId id, bool wait, Arguments& arguments, UntimedEvents& events) {
    const std::int32_t from = arguments.next_rank();
    const std::int32_t to = arguments.next_rank();
    const std::int32_t tag = arguments.next_tag();
    auto& started = ranks_[id.index()].started;
    const auto found = started.find({from, to, tag});
    if (found == started.end()) throw Wrong{"nothing was started that this could wait for"};
    if (!wait) return events.test(id, found->second.front());
    events.wait(id, {found->second.front()});
    found->second.pop_front();
    if (found->second.empty()) started.erase(found);
  }

  void wait_all(RankId id, UntimedEvents& events) {
    std::vector<std::uint32_t> requests;
    for (const auto& [key, started] : ranks_[id.index()].started)
      requests.insert(requests.end(), started.begin(), started.end());
    ranks_[id.index()].started.clear();
    std::sort(requests.begin(), requests.end());
    events.wait(id, requests);
  }

  void collective(RankId id, const std::string& action, Arguments& arguments, UntimedEvents& events) {
    const auto members = static_cast<std::size_t>(preamble_.ranks);
    const auto emit = [&](MpiCall call, Kind kind, std::int64_t size, std::int32_t root = -1,
                          const std::vector<std::int64_t>& sizes = {}) {
      if (root < -1 || root >= preamble_.ranks) throw Wrong{fmt::format("there is no root {}", root)};
      events.collective(id, call, kind, size, root, sizes);
    };
    if (action == "barrier") return emit(MpiCall::MPI_Barrier, Kind::kBarrier, 0);
    if (action == "alltoallv") {
      arguments.next_size();
      auto sizes = arguments.next_list(members);
      arguments.next_size();
      auto received = arguments.next_list(members);
      const std::int64_t sent = scale(sizes, arguments.unit());
      scale(received, arguments.unit());
      sizes.insert(sizes.end(), received.begin(), received.end());
      return emit(MpiCall::MPI_Alltoallv, Kind::kAlltoallv, sent, -1, sizes);
    }
    if (action == "reducescatter") {
      auto sizes = arguments.next_list(members);
      arguments.next_size();
      const std::int64_t whole = scale(sizes, arguments.unit());
      return emit(MpiCall::MPI_Reduce_scatter, Kind::kReduceScatter, whole, -1, sizes);
    }
    if (action == "scatterv") {
      auto sizes = arguments.next_list(members);
      const std::int64_t mine = arguments.next_size();
      const std::int32_t root = arguments.next_rank();
      const std::int64_t unit = arguments.unit();
      scale(sizes, unit);
      return emit(MpiCall::MPI_Scatterv, Kind::kScatterv, mine * unit, root,
                  id.value == root ? sizes : std::vector<std::int64_t>{});
    }
    const std::int64_t size = arguments.next_size();
    if (action == "gatherv" || action == "allgatherv") {
      auto sizes = arguments.next_list(members);
      const std::int32_t root = action == "gatherv" ? arguments.next_rank() : -1;
      const std::int64_t unit = arguments.unit();
      scale(sizes, unit);
      if (action == "allgatherv")
        return emit(MpiCall::MPI_Allgatherv, Kind::kAllgatherv, size * unit, -1, sizes);
      return emit(MpiCall::MPI_Gatherv, Kind::kGatherv, size * unit, root,
                  id.value == root ? sizes : std::vector<std::int64_t>{});
    }
    if (action == "bcast") {
      const std::int32_t root = arguments.next_rank();
      return emit(MpiCall::MPI_Bcast, Kind::kBcast, size * arguments.unit(), root);
    }
    arguments.next_size();  // what a reduction computes, or what a member receives
    if (action == "reduce") {
      const std::int32_t root = arguments.next_rank();
      return emit(MpiCall::MPI_Reduce, Kind::kReduce, size * arguments.unit(), root);
    }
    if (action == "gather" || action == "scatter") {
      const bool gathers = action == "gather";
      const std::int32_t root = arguments.next_rank();
      return emit(gathers ? MpiCall::MPI_Gather : MpiCall::MPI_Scatter,
                  gathers ? Kind::kGather : Kind::kScatter, size * arguments.unit(), root);
    }
    const std::int64_t total = size * arguments.unit();
    if (action == "allreduce") return emit(MpiCall::MPI_Allreduce, Kind::kAllreduce, total);
    if (action == "scan") return emit(MpiCall::MPI_Scan, Kind::kScan, total);
    if (action == "exscan") return emit(MpiCall::MPI_Exscan, Kind::kExscan, total);
    if (action == "allgather") return emit(MpiCall::MPI_Allgather, Kind::kAllgather, total);
    if (action == "alltoall") return emit(MpiCall::MPI_Alltoall, Kind::kAlltoall, total);
    throw Wrong{"there is no action \"" + action.substr(0, 40) + "\""};
  }

  std::vector<fs::path> files_;
  double rate_;
  exchange::Preamble preamble_;
  std::vector<Rank> ranks_;
};

/// A list may name what is no file, which might never end, or a file again, so that a few lines would be worth many files'
/// bytes. What isn't there is told when it is read.
std::optional<std::string> trouble_with(const fs::path& file, std::set<std::pair<dev_t, ino_t>>& named) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return std::nullopt;
  if (!S_ISREG(info.st_mode)) return "is no file";
  if (!named.emplace(info.st_dev, info.st_ino).second) return "is named twice";
  return std::nullopt;
}

/// The files that a list names: from the current folder, as smpirun takes them, or from the list's own.
Result<std::vector<fs::path>> files_in(const fs::path& list) {
  std::ifstream stream{list};
  if (!stream || fs::is_directory(list))
    return Error{list.string() + ": cannot be read",
                 "name a list of trace files, or a folder with replay.txt"};
  std::vector<fs::path> files;
  std::set<std::pair<dev_t, ino_t>> named;
  for (std::string line; std::getline(stream, line);) {
    const Words words = split(line);
    if (words.empty()) continue;
    if (words.size() > 1) return Error{list.string() + ": is no list of trace files", kRemedy};
    const fs::path beside = list.parent_path() / words[0];
    files.push_back(fs::is_regular_file(beside) ? beside : fs::path{words[0]});
    if (const auto why = trouble_with(files.back(), named))
      return Error{fmt::format("{}: trace {} {}", list.string(), files.back().string(), *why), kRemedy};
  }
  if (files.empty()) return Error{list.string() + ": names no trace file", kRemedy};
  return files;
}

}  // namespace

Result<std::unique_ptr<exchange::Importer>> open(const fs::path& path, double flops_per_second) {
  auto files = files_in(fs::is_directory(path) ? path / kList : path);
  if (!files) return files.error();
  auto reader = std::make_unique<TraceReader>(std::move(files).value(), flops_per_second);
  if (const auto scanned = reader->scan(); !scanned) return scanned.error();
  return std::unique_ptr<exchange::Importer>{std::move(reader)};
}

}  // namespace nplus1::events::time_independent
