// The detector: from the transfers of a run to the list of hand-written collectives, each with its evidence and with
// what to call instead. `nplus1 collectives` shows it; docs/formats/collectives.md has the fields. Pure; one thread.
//
//   TransferCollector collector{ranks};  reader.read(collector);
//   const auto transfers = collector.take();
//   for (const Finding& f : find_collectives(transfers, collector)) ...
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "detector/occurrence.hpp"
#include "detector/verdict.hpp"
#include "events/definitions_collector.hpp"

namespace nplus1::detector {

/// Which occurrences a finding keeps: the first, for a drawing of it, or all, to replay without them.
enum class Keep : std::uint8_t { kFirst, kAll };

/// One hand-written collective: all its instances from one group of call sites, on one group of ranks or on several that
/// have no rank in common (the rows of a grid, which one line of source changes all).
struct Finding {
  CollectiveKind kind{};
  std::optional<Operation> operation;
  Certainty certainty{};
  std::vector<std::int32_t> ranks;                // in MPI_COMM_WORLD, of all groups, ascending
  std::vector<std::vector<std::int32_t>> groups;  // each ascending; one: `ranks`
  std::vector<std::int32_t> roots;                // of all instances; empty where the kind has none
  std::uint64_t count = 0;                        // instances
  std::uint64_t bytes = 0;                        // of one call: the vector, or one member's (largest) block
  std::uint64_t messages = 0;                     // of all instances
  std::uint64_t payloads = 0;                     // different ones among the instances
  std::uint64_t segments = 1;                     // of one instance, at most
  bool polled = false;                            // a receiver looked for its message before it received
  std::vector<std::string> lines;                 // "file:line" of all calls that take part
  std::vector<std::string> callers;               // "file:line" of who called the functions that these are in
  std::string replacement;
  std::optional<double> saving_s;  // nothing: not priced
  /// How far the replay of what was is from what was; nothing: that replay failed, and evidence says why.
  std::optional<double> saving_error_s;
  std::vector<std::string> evidence;
  std::vector<std::string> alternatives;
  std::vector<Occurrence> occurrences;
};

/// Most messages first within a certainty, the most certain first.
[[nodiscard]] std::vector<Finding> find_collectives(const Transfers& transfers,
                                                    const events::DefinitionsCollector& definitions,
                                                    Keep keep = Keep::kFirst);

/// As find_collectives() has them: the order is the same whoever found which.
void sort_findings(std::vector<Finding>& findings);

/// "file:line", or "module+0xoffset" where the line is not known.
[[nodiscard]] std::string text_of(const events::Frame& frame);
/// "file:line" of a call path, or as near to it as is known.
[[nodiscard]] std::string line_of(CallSiteId site, const events::DefinitionsCollector& definitions);
/// "file:line" of who called the function that that line is in, if known.
[[nodiscard]] std::optional<std::string> caller_of(CallSiteId site,
                                                   const events::DefinitionsCollector& definitions);

/// What was not looked at for lack of hashes or of counterparts; empty if nothing.
[[nodiscard]] std::string coverage_note(std::uint64_t messages, const Unknown& unknown,
                                        std::uint64_t unmatched);

/// The call to write instead, with the MPI_Comm_split that makes its communicator where one is missing.
[[nodiscard]] std::string replacement_call(const Finding& finding, std::string_view datatype,
                                           std::size_t world, bool has_communicator);

inline constexpr const char* kCollectivesFile = "collectives.json";
[[nodiscard]] std::string collectives_json(const std::vector<Finding>& findings);
/// For a terminal: what is only possible a line each and the first few, so that it does not bury the rest, or in full.
enum class Detail : std::uint8_t { kSummary, kAll };
[[nodiscard]] std::string collectives_text(const std::vector<Finding>& findings,
                                           Detail detail = Detail::kSummary);

}  // namespace nplus1::detector
