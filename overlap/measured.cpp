#include "overlap/measured.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

namespace nplus1::overlap {
namespace {

constexpr std::uint64_t kLeast = 8;  // of each way, on each rank on the mean
constexpr double kNs = 1e-9;

/// Student's t for 95 %, two-sided.
double t_of(double freedom) {
  constexpr std::array<double, 10> kFirst{12.71, 4.303, 3.182, 2.776, 2.571,
                                          2.447, 2.365, 2.306, 2.262, 2.228};
  if (freedom < 1) return kFirst[0];
  if (freedom <= 10) return kFirst[static_cast<std::size_t>(freedom) - 1];
  return 1.96 + 2.4 / freedom + 3.0 / (freedom * freedom);
}

struct OneRank {
  std::uint64_t count = 0;
  double mean = 0, squares = 0;  // nanoseconds
};

/// The ranks' means, weighted; their errors add up as if they were all the same chance.
Measured together(const std::vector<OneRank>& ranks) {
  double count = 0, sum = 0, squares = 0, roots = 0, freedom = 0;
  std::size_t with = 0;
  Measured made;
  for (const OneRank& r : ranks) {
    if (r.count == 0) continue;
    const auto n = static_cast<double>(r.count);
    made.count += r.count;
    count += n;
    sum += n * r.mean;
    squares += r.squares;
    roots += std::sqrt(n);
    freedom += n - 1;
    ++with;
  }
  if (with == 0) return made;
  made.mean = kNs * sum / count;
  const double deviation = freedom > 0 ? std::sqrt(squares / freedom) : 0;
  made.half = kNs * t_of(freedom / static_cast<double>(with)) * deviation * roots / count;
  return made;
}

Measured difference(const Measured& a, const Measured& b) {
  return {std::min(a.count, b.count), a.mean - b.mean, std::hypot(a.half, b.half)};
}

struct RawMessage {
  bool receives = false;
  int peer = -1;
  double bytes = 0;
};

/// A chain of one rank.
struct RawChain {
  int rank = 0;
  std::uint64_t seen = 0;
  std::vector<std::string> calls, frames;  // of each call: its name, and its frames, a line each
  std::vector<RawMessage> messages;
  std::map<std::string, std::uint64_t> ended_by;
  std::uint64_t offset = 0;
  bool inexact = false;
  std::string at;  // its frames
  std::array<std::array<OneRank, 3>, 2> modes;
  OneRank between;
  std::optional<std::array<double, 2>> least;  // nanoseconds, by mode
};

struct Raw {
  std::vector<RawChain> chains;
  std::map<std::pair<int, int>, std::map<std::int64_t, double>> pairs;  // ns by bytes
  std::map<std::int64_t, std::vector<double>> protecting;
};

/// A message's time between two ranks; linear between the sizes that were measured, and beyond. Seconds.
std::optional<double> message_time(const Raw& raw, int a, int b, double bytes) {
  const auto pair = raw.pairs.find({std::min(a, b), std::max(a, b)});
  if (pair == raw.pairs.end() || pair->second.empty()) return std::nullopt;
  const auto& sizes = pair->second;
  auto high = sizes.lower_bound(static_cast<std::int64_t>(bytes));
  if (high == sizes.begin() || sizes.size() == 1) return kNs * sizes.begin()->second;
  if (high == sizes.end()) --high;
  const auto low = std::prev(high);
  const double slope = (high->second - low->second) / static_cast<double>(high->first - low->first);
  return kNs * (low->second + slope * (bytes - static_cast<double>(low->first)));
}

/// What the network says where a chain was seen too seldom: one receive after the other, and all of them at once.
/// Computing hides nothing of it, as most MPI libraries move long messages only while they are called.
void estimate(const Raw& raw, const std::vector<const RawChain*>& ranks, MeasuredChain& chain) {
  double sum = 0, longest = 0, with = 0;
  for (const RawChain* r : ranks) {
    const bool receives =
        std::any_of(r->messages.begin(), r->messages.end(), [](const auto& m) { return m.receives; });
    double all = 0, most = 0;
    for (const RawMessage& m : r->messages) {
      const auto time = m.receives == receives ? message_time(raw, r->rank, m.peer, m.bytes) : std::nullopt;
      all += time.value_or(0);
      most = std::max(most, time.value_or(0));
    }
    sum += all;
    longest += most;
    ++with;
  }
  if (with == 0) return;
  chain.estimated_blocking = chain.blocking.count > 0 ? chain.blocking.mean : sum / with;
  chain.estimated_deferred = std::min(chain.estimated_blocking, longest / with);
}

class Lines {
 public:
  explicit Lines(const std::string& text) : text_{text} {}

  /// Reads all; the line that is not understood, if there is one.
  std::optional<std::string> read(Measurement& to, Raw& raw) {
    std::string line;
    if (!std::getline(text_, line) || line != "nplus1-measured 1") return line;
    while (std::getline(text_, line)) {
      if (line == "end") return std::nullopt;
      std::istringstream words{line};
      std::string word;
      words >> word;
      if (!take(word, words, to, raw)) return line;
    }
    return "(its end is missing)";
  }

 private:
  bool take(const std::string& word, std::istringstream& words, Measurement& to, Raw& raw) {
    if (word == "ranks") return static_cast<bool>(words >> to.ranks);
    if (word == "rank") return static_cast<bool>(words >> rank_);
    if (word == "protect") {
      std::int64_t bytes = 0;
      double ns = 0;
      if (!time_of_bytes(words, bytes, ns)) return false;
      raw.protecting[bytes].push_back(ns);
      return true;
    }
    if (word == "pair") {
      int a = 0, b = 0;
      std::int64_t bytes = 0;
      double ns = 0;
      if (!(words >> a >> b) || !time_of_bytes(words, bytes, ns)) return false;
      raw.pairs[{a, b}][bytes] = ns;
      return true;
    }
    if (word == "stopped") return ++to.stopped[rest(words)] > 0;
    std::uint64_t count = 0;
    if (word == "not-deferrable" || word == "lost") {
      if (!(words >> count)) return false;
      (word == "lost" ? to.lost : to.not_deferrable) += count;
      return true;
    }
    if (word == "chain") {
      if (!(words >> count)) return false;
      raw.chains.push_back({});
      raw.chains.back().rank = rank_;
      raw.chains.back().seen = count;
      return true;
    }
    return !raw.chains.empty() && take(word, words, raw.chains.back());
  }

  bool take(const std::string& word, std::istringstream& words, RawChain& chain) {
    if (word == "call") {
      chain.calls.push_back(rest(words));
      chain.frames.emplace_back();
      return true;
    }
    if (word == "frame") {
      if (chain.frames.empty()) return false;
      std::string& frames = chain.frames.back();
      frames += (frames.empty() ? "" : "\n") + rest(words);
      return true;
    }
    if (word == "message") {
      std::string direction;
      RawMessage m;
      if (!(words >> direction >> m.peer >> m.bytes)) return false;
      m.receives = direction == "receive";
      m.bytes = std::clamp(m.bytes, 0.0, static_cast<double>(kMostBytes));
      chain.messages.push_back(m);
      return true;
    }
    if (word == "ended") {
      std::string why;
      std::uint64_t count = 0;
      return (words >> why >> count) && (chain.ended_by[why] = count) > 0;
    }
    if (word == "ending") return static_cast<bool>(words >> chain.offset >> chain.inexact);
    if (word == "at") {
      chain.at += (chain.at.empty() ? "" : "\n") + rest(words);
      return true;
    }
    if (word == "between") return one(words, chain.between);
    if (word == "least") {
      chain.least.emplace();
      auto& [blocking, deferred] = *chain.least;
      return (words >> blocking >> deferred) && std::isfinite(blocking) && std::isfinite(deferred);
    }
    if (word != "blocking" && word != "deferred") return false;
    auto& mode = chain.modes[word == "deferred" ? 1 : 0];
    return one(words, mode[0]) && one(words, mode[1]) && one(words, mode[2]);
  }

  static constexpr std::int64_t kMostBytes = 1'000'000'000'000'000;

  static bool time_of_bytes(std::istringstream& words, std::int64_t& bytes, double& ns) {
    return (words >> bytes >> ns) && bytes >= 0 && bytes <= kMostBytes && std::isfinite(ns);
  }
  static bool one(std::istringstream& words, OneRank& to) {
    return (words >> to.count >> to.mean >> to.squares) && std::isfinite(to.mean) &&
           std::isfinite(to.squares);
  }
  static std::string rest(std::istringstream& words) {
    std::string text;
    words.get();  // the space behind the word: what follows may begin with another
    std::getline(words, text);
    return text;
  }

  std::istringstream text_;
  int rank_ = 0;
};

void take_undisturbed(const std::vector<const RawChain*>& ranks, MeasuredChain& chain) {
  double with = 0;
  for (const RawChain* r : ranks) {
    if (!r->least) continue;
    chain.undisturbed_blocking += kNs * (*r->least)[0];
    chain.undisturbed_deferred += kNs * (*r->least)[1];
    ++with;
  }
  if (with == 0) return;
  chain.undisturbed_blocking /= with;
  chain.undisturbed_deferred /= with;
}

MeasuredChain chain_of(const Raw& raw, const std::vector<const RawChain*>& ranks, const FindPlace& place) {
  MeasuredChain made;
  const RawChain& first = *ranks.front();
  for (std::size_t i = 0; i < first.calls.size(); ++i) {
    made.contexts.push_back(place(first.frames[i]));
    made.contexts.back().function = first.calls[i];
  }
  std::array<std::array<std::vector<OneRank>, 3>, 2> modes;
  std::vector<OneRank> between;
  for (const RawChain* r : ranks) {
    made.count += r->seen;
    for (const auto& [why, count] : r->ended_by) made.ended_by[why] += count;
    for (std::size_t m = 0; m < 2; ++m)
      for (std::size_t k = 0; k < 3; ++k) modes[m][k].push_back(r->modes[m][k]);
    between.push_back(r->between);
  }
  made.ranks = ranks.size();
  if (!first.at.empty()) made.ending = place(first.at);
  made.offset = first.offset;
  made.inexact = first.inexact;
  made.blocking = together(modes[0][0]);
  made.deferred = together(modes[1][0]);
  made.overhead = together(modes[1][1]);
  made.round_blocking = together(modes[0][2]);
  made.round_deferred = together(modes[1][2]);
  made.between = together(between);
  take_undisturbed(ranks, made);
  estimate(raw, ranks, made);
  return made;
}

void summarise_machine(const Raw& raw, Measurement& to) {
  for (const auto& [bytes, times] : raw.protecting) {
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    to.protecting.emplace_back(bytes, kNs * sorted[sorted.size() / 2]);
  }
  std::map<std::int64_t, std::vector<double>> by_size;
  for (const auto& [pair, sizes] : raw.pairs)
    for (const auto& [bytes, ns] : sizes) by_size[bytes].push_back(ns);
  for (auto& [bytes, times] : by_size) {
    std::sort(times.begin(), times.end());
    to.messages.push_back({bytes, kNs * times.front(), kNs * times[times.size() / 2], kNs * times.back()});
  }
}

}  // namespace

bool MeasuredChain::is_measured() const {
  const std::uint64_t least = kLeast * std::max<std::uint64_t>(1, ranks);
  return blocking.count >= least && deferred.count >= least;
}

Measured MeasuredChain::by_hand() const {
  if (!is_measured()) return {0, estimated_blocking - estimated_deferred, 0};
  return difference(blocking, deferred);
}

Measured MeasuredChain::at_run_time() const {
  return difference(by_hand(), overhead);
}

Says verdict(const MeasuredChain& chain, const Measured& saving) {
  if (!chain.is_measured()) return Says::kSeldom;
  if (saving.mean - saving.half > 0) return Says::kWins;
  return saving.mean + saving.half < 0 ? Says::kLoses : Says::kNothing;
}

Result<Measurement> read_measurement(const std::string& text, const FindPlace& place) {
  Measurement made;
  Raw raw;
  if (const auto wrong = Lines{text}.read(made, raw))
    return Error{"what the ranks have measured cannot be read: " + *wrong, "measure again"};
  std::map<std::pair<std::vector<std::string>, std::vector<std::string>>, std::vector<const RawChain*>> same;
  for (const RawChain& chain : raw.chains) same[{chain.calls, chain.frames}].push_back(&chain);
  for (const auto& [contexts, ranks] : same) made.chains.push_back(chain_of(raw, ranks, place));
  std::stable_sort(made.chains.begin(), made.chains.end(),
                   [](const auto& a, const auto& b) { return a.total_s() > b.total_s(); });
  summarise_machine(raw, made);
  return made;
}

}  // namespace nplus1::overlap
