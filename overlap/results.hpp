// What `nplus1 overlap` has found, for overlap.json (docs/formats/overlap.md), the terminal and report.html. Plain
// values, and pure functions of them; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "overlap/efficiency.hpp"
#include "overlap/one_wait.hpp"
#include "overlap/plan.hpp"

namespace nplus1::overlap {

/// How rendezvous transfers go on: whatever the ranks do, or only while both are inside MPI.
enum class ProgressKind : std::uint8_t { kAsynchronous, kWeak };
inline constexpr std::size_t kProgressKinds = 2;
inline constexpr std::size_t kVariants = 4;

/// What a replay came to; nothing where it was not made.
struct Replayed {
  double makespan_s = 0;
  double communication_s = 0;  // of all ranks: neither computing nor unexplained
  Hidden whole;
  std::int64_t in_mpi = 0;  // picoseconds of all threads
  bool finished = false;
  std::uint64_t events = 0;  // calls, pauses and accesses that it came to

  [[nodiscard]] std::int64_t visible() const { return whole.transfer - whole.hidden; }
};

/// What waiting for each non-blocking call at once adds to the time in MPI, and what that consists of: the parts add
/// up to the whole. Picoseconds, all ranks.
struct TwoReplays {
  double share =
      0;  // transfer that computing hides as it is, of the time in transfer when waited for at once
  double ratio = 1;  // of the times in transfer, waited for at once to as it is: share is efficiency / ratio
  /// 1 - visible as it is / in transfer when waited for at once, which counts what transfers take longer as hidden:
  /// share + 1 - 1 / ratio.
  double visible_share = 0;
  std::int64_t added = 0;     // time in MPI: waited for at once, less as it is
  std::int64_t transfer = 0;  // of it: transfer that computing hides
  std::int64_t longer = 0;    // transfers take longer, or follow each other instead of going on together
  std::int64_t partners = 0;  // waiting for partners, and the CPU's share of messages, that computing hides
};

/// By variant and progress.
using Replays = std::array<std::array<std::optional<Replayed>, kProgressKinds>, kVariants>;

/// A place of the program, as far as its debug information names it.
struct Place {
  std::string function;  // of MPI where it is a call's, else of the program
  std::string file;      // whole path; empty: not known
  std::uint32_t line = 0;
  std::string address;  // module+0xoffset
};

struct ChainFinding {
  std::size_t chain = 0;           // place in Analysis::chains
  std::vector<std::size_t> parts;  // the same, of what is changed with it: with_parts()
  Replays alone;                   // these chains changed and nothing else
  std::optional<OneWait>
      one_wait;  // where a change of the source waits; nothing where no line of its calls is known
  bool waits_as_grouped = false;  // and that is where each instance ends
  std::string patch;              // a unified diff; empty: none
  std::string not_patched;        // why
  std::string measured;           // on real MPI, in words; empty: it was not
};

struct Results {
  std::string recording, application, network, compute;
  std::size_t ranks = 0;
  bool accesses = false;
  std::string access_method, access_cost;  // properties of the recording
  double at_least = 0.05;                  // share of the run from which a chain is a finding
  ProgressKind progress{};                 // that savings are ranked by
  std::string coverage;
  std::uint64_t events = 0, left_out = 0;  // events and matches that were looked at, and that were not

  std::array<std::optional<Replayed>, kProgressKinds> as_written;
  std::optional<Replayed> at_once;   // each non-blocking call waited for at once
  Replays all;                       // all chains changed
  EfficiencyResult efficiency;       // as written, asynchronous
  std::vector<ChainFinding> chains;  // most saving first
  std::size_t not_priced = 0;        // chains that take too little time to be replayed
  std::string trust;                 // JSON of the run's trust; empty: nothing is known

  [[nodiscard]] double run_s() const;
  /// The most that a variant saves, by `progress`; 0: none does.
  [[nodiscard]] double saving_s(const ChainFinding& finding) const;
  [[nodiscard]] double share(double saved_s) const { return run_s() > 0 ? saved_s / run_s() : 0; }
  [[nodiscard]] std::optional<double> saved_s(const Replays& replays, Variant variant,
                                              ProgressKind kind) const;
  /// Which variant that is.
  [[nodiscard]] std::optional<Variant> best(const ChainFinding& finding) const;
  [[nodiscard]] bool is_finding(const ChainFinding& finding) const {
    return saving_s(finding) > 0 && share(saving_s(finding)) >= at_least;
  }
  /// The most of the time in transfer that its data allow to hide: with each request as early and as late as is legal, or as
  /// it is, if that is more (requests that are open for longer are in transfer for longer). Nothing where it was not replayed.
  [[nodiscard]] std::optional<double> bound(ProgressKind kind) const;
  /// What the two replays say; nothing where they were not made or nothing was in transfer.
  [[nodiscard]] std::optional<TwoReplays> two_replays() const;
};

[[nodiscard]] const char* name(Variant variant);
[[nodiscard]] const char* name(ProgressKind kind);

/// Chains, most saving first.
void sort_by_saving(Results& results);

[[nodiscard]] Place place_of_call(const Survey& survey, const Context& context);
[[nodiscard]] Place place_of_site(const Survey& survey, std::uint32_t site);
/// "halo.c:72", or the address.
[[nodiscard]] std::string short_text(const Place& place);
/// "MPI_Sendrecv at halo.c:72, MPI_Sendrecv at halo.c:78".
[[nodiscard]] std::string title(const Survey& survey, const std::vector<Context>& contexts);
/// The same; calls at one line that are reached from several (an inlined wrapper) say from which.
[[nodiscard]] std::string title_with_callers(const Survey& survey, const std::vector<Context>& contexts);
/// Where the function that makes the call was called from; nothing where the path ends there or has no line.
[[nodiscard]] std::optional<Place> caller_of(const Survey& survey, const Context& context);
/// Sixteen hexadecimal digits.
[[nodiscard]] std::string chain_name(const Chain& chain);

/// Calls at one line that cannot be deferred for one reason, however they are reached.
struct NotDeferrableLine {
  Place place;
  std::string reason;
  std::uint64_t count = 0;
};
/// Most calls first.
[[nodiscard]] std::vector<NotDeferrableLine> not_deferrable_lines(const Survey& survey,
                                                                  const Analysis& analysis);

/// Of call paths that end in one line, the one that stands for all.
[[nodiscard]] Efficiency::Standing one_path_for_each_line(const Survey& survey);

/// Whether some call of some chain has a source line.
[[nodiscard]] bool has_source_lines(const Survey& survey, const Analysis& analysis);

[[nodiscard]] std::string overlap_json(const Results& results, const Survey& survey,
                                       const Analysis& analysis);
[[nodiscard]] std::string overlap_text(const Results& results, const Survey& survey,
                                       const Analysis& analysis);

}  // namespace nplus1::overlap
