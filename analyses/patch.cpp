// Asks nplus1-patch for the changes of the source that the findings stand for.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "analyses/installation.hpp"
#include "analyses/patch.hpp"
#include "events/mpi_call.hpp"
#include "overlap/patch/request.hpp"
#include "support/processes/programs.hpp"
#include "support/shell.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace {

namespace fs = std::filesystem;
namespace patch = overlap::patch;

patch::Wait wait_of(const overlap::OneWait& wait) {
  switch (wait.where) {
    case overlap::WaitsAt::kBeforeLine:
      return {patch::WaitPlace::kBeforeLine, {wait.line.file, static_cast<int>(wait.line.line)}};
    case overlap::WaitsAt::kEndOfBlock:
      return {patch::WaitPlace::kEndOfBlock, {}};
    case overlap::WaitsAt::kAfterCalls:
      break;
  }
  return {patch::WaitPlace::kAfterCalls, {}};
}

/// What the recording says of the finding's calls, in the order of its chain.
std::vector<patch::Call> calls_of(const OverlapSource& source, const overlap::ChainFinding& finding) {
  struct Seen {
    bool sends = false, receives = false, any_source = false, watched = true;
  };
  std::map<overlap::Context, Seen> seen;
  for (const std::size_t c : finding.parts)
    for (const overlap::ChainInstance& instance : source.analysis->chains[c].instances)
      for (const std::uint32_t i : instance.members) {
        const overlap::MessageEnd& end =
            source.survey->ranks()[static_cast<std::size_t>(instance.rank)].ends[i];
        Seen& of = seen[{end.event.call, end.event.site.value}];
        (end.receives() ? of.receives : of.sends) = true;
        of.any_source = of.any_source || end.from_anybody();
        of.watched = of.watched && end.is_watched();
      }
  std::vector<patch::Call> calls;
  for (const overlap::Context& context : source.analysis->chains[finding.chain].contexts) {
    const overlap::Place place = overlap::place_of_call(*source.survey, context);
    const Seen& of = seen[context];
    patch::Call& call = calls.emplace_back();
    call.place = {place.file, static_cast<int>(place.line)};
    call.function = place.function;
    call.watched = of.watched;
    call.any_source = of.any_source;
    call.kind = of.sends && of.receives ? patch::CallKind::kSendrecv
                : of.sends              ? patch::CallKind::kSend
                                        : patch::CallKind::kReceive;
  }
  return calls;
}

/// Sources must be no newer than the program that was recorded.
void add_sources(const OverlapSource& source, const overlap::Chain& chain,
                 std::map<std::string, patch::SourceState>& all) {
  for (const overlap::Context& context : chain.contexts) {
    const events::CallPath* path = source.survey->names().call_path(CallSiteId{context.site});
    if (path == nullptr || path->frames.empty() || path->frames.front().file.empty()) continue;
    const events::Frame& frame = path->frames.front();
    patch::SourceState& state = all[frame.file];
    state.file = frame.file;
    struct stat program {};
    if (stat(frame.module.c_str(), &program) == 0)
      state.not_after =
          static_cast<double>(program.st_mtim.tv_sec) + 1e-9 * static_cast<double>(program.st_mtim.tv_nsec);
  }
}

patch::Request request_of(const PatchOptions& options, const OverlapSource& source,
                          overlap::Results& results) {
  constexpr std::size_t kMostCalls = 1000;  // that somebody has written one after the other
  patch::Request request;
  request.compile_commands = options.compile_commands;
  if (!options.compile.empty()) request.flags = options.compile;
  std::map<std::string, patch::SourceState> sources;
  std::set<std::size_t> included;  // in what is asked for already
  for (overlap::ChainFinding& f : results.chains) {
    const overlap::Chain& chain = source.analysis->chains[f.chain];
    if (!results.is_finding(f) || !chain.blocks || included.count(f.chain) > 0) continue;
    if (chain.contexts.size() > kMostCalls) {
      f.not_patched = fmt::format("it goes through a loop: {} calls", chain.contexts.size());
      continue;
    }
    included.insert(f.parts.begin(), f.parts.end());
    patch::Chain asked;
    asked.id = overlap::chain_name(chain);
    if (!f.one_wait) continue;
    asked.calls = calls_of(source, f);
    asked.wait = wait_of(*f.one_wait);
    add_sources(source, chain, sources);
    request.chains.push_back(std::move(asked));
  }
  for (const auto& [file, state] : sources) request.sources.push_back(state);
  return request;
}

patch::Answer asked(const patch::Request& request) {
  constexpr std::chrono::seconds kLimit{300};
  const auto program = need(find_patcher(), Fault::kUnavailable);
  std::string name = (fs::temp_directory_path() / "nplus1-patch-XXXXXX").string();
  const int file = mkstemp(name.data());
  if (file < 0)
    throw Stopped{{"cannot write to " + fs::temp_directory_path().string(),
                   "set TMPDIR to a folder with room", Fault::kOutput}};
  close(file);
  std::ofstream{name} << to_json(request);
  const processes::Output output =
      processes::capture({"/bin/sh", "-c", quote(program.string()) + " < " + quote(name)}, kLimit);
  std::error_code ignored;
  fs::remove(name, ignored);
  if (output.exit_code != 0)
    throw Stopped{{fmt::format("nplus1-patch ended with exit code {}{}", output.exit_code,
                               output.text.empty() ? "" : ": " + output.text),
                   "say how the program is compiled: --compile-commands DIR, or --compile 'FLAGS'",
                   Fault::kUnsuitable}};
  return need(patch::parse_answer(output.text), Fault::kBug);
}

void note_answers(const patch::Answer& answer, const OverlapSource& source, overlap::Results& results) {
  for (overlap::ChainFinding& f : results.chains)
    for (const patch::ChainAnswer& c : answer.chains) {
      if (c.id != overlap::chain_name(source.analysis->chains[f.chain])) continue;
      f.patch = c.diff;
      if (!c.refusal) continue;
      f.not_patched =
          fmt::format("{}{}", c.refusal->reason,
                      c.refusal->place.file.empty()
                          ? ""
                          : fmt::format(" ({}:{})", c.refusal->place.file, c.refusal->place.line));
      if (!c.advice.empty()) f.not_patched += "; " + c.advice;
    }
}

}  // namespace

Result<Patch> patch_chains(const PatchOptions& options, const OverlapSource& source,
                           overlap::Results& results) {
  return attempt([&] {
    const patch::Request request = request_of(options, source, results);
    if (request.chains.empty()) return Patch{};
    patch::Answer answer = asked(request);
    note_answers(answer, source, results);
    return Patch{request.chains.size(), std::move(answer.diff), std::move(answer.root)};
  });
}

}  // namespace nplus1::analyses
