// `nplus1 map`: where the ranks should run on a platform, as files for those who start jobs.
#include "analyses/map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "analyses/clock.hpp"
#include "analyses/output_folder.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/progress.hpp"
#include "cli/replay/replay.hpp"
#include "cli/verbs.hpp"
#include "report/exact_time.hpp"
#include "report/files.hpp"
#include "report/json_object.hpp"
#include "report/page.hpp"

namespace nplus1::cli {
namespace {

using analyses::MapSearch;
using analyses::MapTrial;
using report::exact_seconds;
using report::readable;
using Object = report::JsonObject;

struct MapWords : analyses::MapOptions {
  ReplayWords replay;  // in place of the options' settings
};

constexpr const char* kMapSchema = "nplus1-map/1";
constexpr const char* kMapExamples =
    "  nplus1 map nplus1-app-16-1 --platform P.xml                  placements, and what each would take\n"
    "  nplus1 map DIR --platform P.xml -o mapped                    and files for Open MPI, MPICH, Slurm, "
    "Cray MPICH\n"
    "  nplus1 run -n 16 --platform P.xml --map mapped/map -- ./app  the program on the placement that was "
    "found\n"
    "  nplus1 map DIR --platform P.xml --start block --replays 500  from another start, more thoroughly\n";

/// Hosts in the order in which the start has them, with how many ranks each takes.
std::vector<std::pair<std::string, std::size_t>> nodes_of(const MapSearch& search) {
  std::vector<std::pair<std::string, std::size_t>> nodes;
  for (const std::string& host : search.hosts) {
    const auto known = std::ranges::find(nodes, host, &std::pair<std::string, std::size_t>::first);
    if (known == nodes.end())
      nodes.emplace_back(host, 1);
    else
      ++known->second;
  }
  return nodes;
}

std::string host_lines(const MapSearch& search, const MapTrial& trial) {
  std::string text;
  for (std::size_t r = 0; r < trial.placement.size(); ++r) text += search.host_of(trial, r) + "\n";
  return text;
}

std::string open_mpi(const MapSearch& search, const MapTrial& trial) {
  std::string text;
  std::map<std::string, int> used;
  for (std::size_t r = 0; r < trial.placement.size(); ++r)
    text +=
        fmt::format("rank {}={} slot={}\n", r, search.host_of(trial, r), used[search.host_of(trial, r)]++);
  return text;
}

/// Hydra gives a host's line as many ranks as stand behind its colon, and starts again at the top.
std::string mpich(const MapSearch& search, const MapTrial& trial) {
  std::string text;
  for (std::size_t r = 0; r < trial.placement.size();) {
    std::size_t last = r + 1;
    while (last < trial.placement.size() && search.host_of(trial, last) == search.host_of(trial, r)) ++last;
    text += fmt::format("{}:{}\n", search.host_of(trial, r), last - r);
    r = last;
  }
  return text;
}

/// The ranks in the order of the nodes that take them, node by node.
std::string cray(const MapSearch& search, const MapTrial& trial) {
  std::string text = "# MPICH_RANK_REORDER_METHOD=3; nodes in this order:";
  std::string order;
  for (const auto& [host, count] : nodes_of(search)) {
    text += " " + host;
    for (std::size_t r = 0; r < trial.placement.size(); ++r)
      if (search.host_of(trial, r) == host) order += (order.empty() ? "" : ",") + std::to_string(r);
  }
  return text + "\n" + order + "\n";
}

std::string trial_object(const MapSearch& search, const MapTrial& trial) {
  return fmt::format("\n    {{\"name\": {}, \"time_s\": {}, \"hop_bytes\": {:.0f}, \"hosts\": ",
                     Object::quoted(trial.name), exact_seconds(trial.end.time_since_epoch()),
                     trial.hop_bytes) +
         Object::joined(trial.placement,
                        [&](std::uint32_t place) { return Object::quoted(search.hosts[place]); }) +
         "}";
}

std::string json(const MapWords& words, const MapSearch& search) {
  Object object;
  object.text("schema", kMapSchema);
  object.text("recording", words.replay.source);
  object.text("application", search.application);
  object.text("platform", search.platform);
  object.number("ranks", search.hosts.size());
  object.number("replays", search.replays);
  object.number("seed", words.seed);
  object.number("steps", search.steps);
  object.number("best", search.best);
  object.list(
      "placements", search.trials, [&](const MapTrial& t) { return trial_object(search, t); }, ",");
  return object.document();
}

double saving(const MapSearch& search, const MapTrial& trial) {
  const double start = seconds(search.trials[0].end.time_since_epoch());
  return start > 0 ? 100 * (1 - seconds(trial.end.time_since_epoch()) / start) : 0;
}

std::string text(const MapSearch& search) {
  std::string page =
      fmt::format("{} on {} ranks of {}: placements on the hosts of the start\n\n  {:<30}{:>12}{:>9}{:>14}\n",
                  search.application.empty() ? "The program" : search.application, search.hosts.size(),
                  search.platform, "", "takes", "saves", "bytes x hops");
  for (std::size_t i = 0; i < search.trials.size(); ++i) {
    const MapTrial& t = search.trials[i];
    page += fmt::format("{} {:<30}{:>12}{:>7.1f} %{:>14}\n", i == search.best ? "*" : " ", t.name,
                        readable(t.end.time_since_epoch()), saving(search, t),
                        report::readable_bytes(t.hop_bytes));
  }
  page += fmt::format("\n{} replays; {} swaps lowered the time. The one with a star was replayed again.\n",
                      search.replays, search.steps);
  if (search.best == 0)
    page += "Nothing better than the start was found: the files place ranks as it does.\n";
  return page;
}

void write_files(const MapWords& words, const MapSearch& search, const std::string& document) {
  const auto folder =
      or_fail(analyses::OutputFolder::at(words.replay.output), ExitCode::kCantCreate, kNothingStarted);
  const MapTrial& best = search.trials[search.best];
  for (const auto& [name, contents] :
       {std::pair{"map", host_lines(search, best)}, std::pair{"rankfile.openmpi", open_mpi(search, best)},
        std::pair{"machinefile.mpich", mpich(search, best)},
        std::pair{"hostfile.slurm", host_lines(search, best)},
        std::pair{"MPICH_RANK_ORDER", cray(search, best)}, std::pair{"map.json", document}})
    or_fail(report::write_file(folder.path() / name, contents), ExitCode::kCantCreate,
            "the mapping is not written");
  fmt::print(
      "\n{0}/map                for nplus1 run, replay and whatif --map\n"
      "{0}/rankfile.openmpi   mpirun --rankfile FILE\n"
      "{0}/machinefile.mpich  mpiexec -f FILE\n"
      "{0}/hostfile.slurm     SLURM_HOSTFILE=FILE srun --distribution=arbitrary\n"
      "{0}/MPICH_RANK_ORDER   in the folder of the job, with MPICH_RANK_REORDER_METHOD=3\n",
      folder.path().string());
}

int map(const MapWords& words) {
  analyses::MapOptions options = words;
  options.replay = words.replay;
  options.replay.source = analyses::with_warm_clock(words.replay.source);
  if (!words.replay.platform.map.empty()) options.start = words.replay.platform.map;
  const MapSearch search = or_fail(analyses::search_map(options, progress_of("replays", words.replay.quiet)),
                                   ExitCode::kNoInput, "no mapping was looked for, nothing is written");
  const std::string document = json(words, search);
  if (!words.replay.json.empty())
    or_fail(report::write_file(words.replay.json, document), ExitCode::kCantCreate,
            "the mapping is not written");
  fmt::print("{}", text(search));
  if (!words.replay.output.empty()) write_files(words, search, document);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_map(const Registration& registration) {
  CLI::App* verb = registration.app.add_subcommand(
      "map", "Look for the placement of ranks on a platform that takes the least time");
  set_manual(*verb, {"nplus1 map DIR|RECORDING --platform FILE [options]", kMapExamples});
  const auto words = std::make_shared<MapWords>();
  ReplayWords& replay = words->replay;
  verb->add_option("source", replay.source, "Result folder of a run, or a recording")
      ->type_name("DIR|RECORDING")
      ->required();
  verb->add_option("--platform", replay.platform.platform, "The SimGrid platform")
      ->type_name("FILE")
      ->required();
  verb->add_option(
          "--start", replay.platform.map,
          "The placement to begin with, as --map of nplus1 run has it: its hosts are those that are used "
          "[round-robin]")
      ->type_name("HOW");
  verb->add_option("--also", words->also,
                   "A map file to try as well, e.g. what a graph partitioner says; may be repeated")
      ->type_name("FILE")
      ->expected(1)
      ->take_all();
  verb->add_option("--replays", words->replays,
                   "How many placements are replayed, those of the rules among them [100]")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  verb->add_option("--seed", words->seed, "Of the search by chance [1]")->type_name("N");
  verb->add_option("--model", replay.platform.model, "SimGrid's network model: SMPI (default), LV08 or CM02")
      ->type_name("WHICH");
  verb->add_option("--simgrid", replay.platform.settings, "SimGrid's own configuration; may be repeated")
      ->type_name("KEY:VALUE")
      ->join(' ');
  verb->add_option("--collectives", replay.collectives,
                   "Algorithms of the collectives, as in nplus1 run [the recorded ones]")
      ->type_name("SPEC");
  verb->add_option("-j,--jobs", replay.jobs, "Replays at a time [as many as cores]")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  verb->add_option("-o,--output", replay.output,
                   "A new folder for the placement, in the files of those who start jobs")
      ->type_name("DIR");
  verb->add_flag("-q,--quiet", replay.quiet, "No progress on stderr");
  verb->add_option("--json", replay.json, "Write all placements to this file (replaces it)")
      ->type_name("FILE");
  verb->callback([registration, words] { registration.chosen = [words] { return map(*words); }; });
}

}  // namespace nplus1::cli
