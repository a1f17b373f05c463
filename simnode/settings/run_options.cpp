#include "simnode/settings/run_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "netmodel/collectives/selection.hpp"
#include "netmodel/network_model.hpp"
#include "netmodel/storage/storage.hpp"
#include "support/size.hpp"

namespace nplus1::simnode::settings {
namespace {

using transport::Config;
using Taken = std::optional<Error>;

constexpr std::uint64_t kMostFrames = 16;

/// A value that is kept as it was written.
template <std::string RunSettings::*field>
Taken keep(const std::string& value, RunSettings& s) {
  s.*field = value;
  return std::nullopt;
}
template <std::string netmodel::PlatformFlags::*field>
Taken keep_for_platform(const std::string& value, RunSettings& s) {
  s.platform.*field = value;
  return std::nullopt;
}
template <bool RunSettings::*field>
Taken keep_switch(const std::string& value, RunSettings& s) {
  s.*field = is_on(value);
  return std::nullopt;
}

Taken take_network(const std::string& value, RunSettings& s) {
  const auto model = netmodel::parse(value);
  if (!model) return model.error();
  if (!model.value()->contention_free() && !model.value()->flows())
    return Error{"'" + value + "' tells the protocol only", "use --platform FILE"};
  s.network = value;
  return std::nullopt;
}

Taken take_storage(const std::string& value, RunSettings& s) {
  const auto storage = netmodel::parse_storage(value);
  if (!storage) return storage.error();
  s.storage = storage.value();
  return std::nullopt;
}

Taken take_collectives(const std::string& value, RunSettings& s) {
  const auto selection = netmodel::Selection::parse(value);
  if (!selection) return selection.error();
  s.collectives = value;
  return std::nullopt;
}

Taken take_compute(const std::string& value, RunSettings& s) {
  auto times = semantics::parse_compute(value);
  if (!times) return times.error();
  s.compute = value;
  s.compute_times = std::move(times).value();
  s.compute_rules.clear();
  s.compute_intervals = {};
  if (s.compute_times.mode == semantics::ComputeMode::kTable) {
    auto rules = semantics::read_compute_rules(s.compute_times.table);
    if (!rules) return rules.error();
    s.compute_rules = std::move(rules).value();
  }
  if (s.compute_times.mode == semantics::ComputeMode::kRecorded) {
    auto intervals = events::recording::read_compute_intervals(s.compute_times.table);
    if (!intervals) return intervals.error();
    s.compute_intervals = std::move(intervals).value();
  }
  return std::nullopt;
}

void tell_compute(const RunSettings& s, Config& c) {
  c.compute_mode = static_cast<std::uint8_t>(s.compute_times.mode);
  c.compute_fixed_ps = s.compute_times.fixed.count();
  c.compute_scale = s.compute_times.scale;
  c.twins = s.compute_times.warm && s.record == Record::kFull ? 1 : 0;
}

void tell_clock(const RunSettings& s, Config& c) {
  using transport::ClockChoice;
  constexpr std::array kNames{std::pair{"wall", ClockChoice::kWall}, std::pair{"cpu", ClockChoice::kCpu},
                              std::pair{"instructions", ClockChoice::kInstructions}};
  const auto* const named =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& choice) { return s.clock == choice.first; });
  c.clock = named == kNames.end() ? ClockChoice::kAuto : named->second;
}

Taken take_poll_cost(const std::string& value, RunSettings& s) {
  const auto cost = semantics::parse_poll_cost(value);
  if (!cost) return cost.error();
  s.poll_cost = cost.value();
  return std::nullopt;
}

void tell_poll_cost(const RunSettings& s, Config& c) {
  c.poll_first_ps = s.poll_cost.first().count();
  c.poll_cap_ps = s.poll_cost.cap().count();
}

Taken take_record(const std::string& value, RunSettings& s) {
  s.record = value == "off" ? Record::kOff : value == "patterns" ? Record::kPatterns : Record::kFull;
  return std::nullopt;
}

Taken take_record_cap(const std::string& value, RunSettings& s) {
  const auto bytes = parse_size(value);
  if (!bytes)
    return Error{fmt::format("'{}' is not a size", value), "e.g. --record-cap 512M, or 0 for no limit"};
  s.record_cap = *bytes;
  return std::nullopt;
}

Taken take_hash(const std::string& value, RunSettings& s) {
  const auto content = events::payload::parse_choice(value);
  if (!content)
    return Error{fmt::format("'{}' is not understood", value),
                 "use all, off, or a list of prefix, crc32, poly61, samples and kept, e.g. --hash "
                 "crc32,poly61"};
  s.content = *content;
  return std::nullopt;
}

/// Of content that is not looked at, nothing is recorded.
Taken take_inline_payloads(const std::string& value, RunSettings& s) {
  const auto bytes = events::payload::parse_whole_bytes(value);
  if (!bytes)
    return Error{fmt::format("'{}' is not a number from 0 to 64", value), "e.g. --inline-payloads 16"};
  if (s.content.parts != 0) s.content.whole_bytes = *bytes;
  return std::nullopt;
}

Taken take_frames(const std::string& value, RunSettings& s) {
  const auto frames = parse_size(value);
  if (!frames || *frames < 1 || *frames > kMostFrames)
    return Error{fmt::format("'{}' is not a number from 1 to 16", value), "e.g. --frames 4"};
  s.frames = static_cast<unsigned>(*frames);
  return std::nullopt;
}

/// Accesses are nothing without the events that they stand between.
Taken take_accesses(const std::string& value, RunSettings& s) {
  s.accesses = is_on(value);
  if (s.accesses) s.record = Record::kFull;
  return std::nullopt;
}

std::vector<RunOption> rows_of_times() {
  return {
      {.flag = "--network",
       .variable = "NPLUS1_NETWORK",
       .value = "SPEC",
       .help = "The simulated network: lsb:latency=S,bandwidth=B/S[,eager=BYTES] or "
               "loggops:L=..,o=..,g=..,G=..,O=..,S=..[,interfaces=both]",
       .fallback = netmodel::kDefaultNetwork.data(),
       .take = take_network},
      {.flag = "--storage",
       .variable = "NPLUS1_STORAGE",
       .value = "SPEC",
       .help =
           "What files lie on: latency=100us,client=1GB/s,total=10GB/s,stripes=4,stripe=1MiB (the "
           "defaults): of a request, of a rank, of all servers, how many, and how much of a file lies on one "
           "before the next (docs/files.md)",
       .take = take_storage},
      {.flag = "--clock",
       .variable = "NPLUS1_CLOCK",
       .value = "WHICH",
       .help = "What a rank's compute time is: auto, cpu (its thread's CPU time), wall, or instructions "
               "(counted by the processor, times what one takes when caches are warm)",
       .choices = "auto|cpu|wall|instructions",
       .fallback = "auto",
       .take = keep<&RunSettings::clock>,
       .tell = tell_clock},
      {.flag = "--compute",
       .variable = "NPLUS1_COMPUTE",
       .value = "HOW",
       .help = "Compute times: measured, warm (and what the host's caches cost: nplus1 clock), "
               "scale:FACTOR, fixed:TIME between calls (1us), file:FILE, or recorded:DIR (of a recorded "
               "run)",
       .fallback = "measured",
       .path = Path::kAfterColon,
       .take = take_compute,
       .tell = tell_compute},
  };
}

std::vector<RunOption> rows_of_the_simulation() {
  return {
      {.flag = "--protocol",
       .variable = "NPLUS1_PROTOCOL",
       .value = "WHICH",
       .help = "conservative, or riesen (figures 2 and 3 of the paper, to the letter)",
       .choices = "conservative|riesen",
       .fallback = "conservative",
       .take = keep<&RunSettings::protocol>,
       .tell = [](const RunSettings& s, Config& c) { c.riesen = s.protocol == "riesen" ? 1 : 0; }},
      {.flag = "--transport",  // ranks look at the variable themselves: how they reach who could tell them
       .variable = "NPLUS1_TRANSPORT",
       .value = "HOW",
       .help = "How events reach the simulator: auto, shm or tcp",
       .choices = "auto|shm|tcp",
       .fallback = "auto",
       .take =
           [](const std::string& value, RunSettings& s) {
             s.tcp = value == "tcp";
             return Taken{};
           }},
      {.flag = "--direct",
       .variable = "NPLUS1_DIRECT",
       .value = "on|off",
       .help = "Whether time stamps go straight from rank to rank where the network model allows it",
       .choices = "on|off",
       .fallback = "on",
       .take = keep_switch<&RunSettings::direct>,
       .tell = [](const RunSettings& s, Config& c) { c.direct = s.direct ? 1 : 0; }},
      {.flag = "--on-deadlock",
       .variable = "NPLUS1_ON_DEADLOCK",
       .value = "WHAT",
       .help = "abort the job with a report, or continue (and hang)",
       .choices = "abort|continue",
       .fallback = "abort",
       .take =
           [](const std::string& value, RunSettings& s) {
             s.abort_on_deadlock = value != "continue";
             return Taken{};
           }},
      {.flag = "--poll-cost",
       .variable = "NPLUS1_POLL_COST",
       .value = "TIME[,CAP]",
       .help = "Virtual time that an unsuccessful Test or Probe costs at first, and at most",
       .fallback = "200ns,10us",
       .take = take_poll_cost,
       .tell = tell_poll_cost},
      {.flag = "--collectives",
       .variable = "NPLUS1_COLLECTIVES",
       .value = "SPEC",
       .help = "Algorithms of the simulated collectives: mpich, openmpi, or e.g. openmpi,bcast=chain",
       .fallback = "mpich",
       .take = take_collectives},
  };
}

std::vector<RunOption> rows_of_the_recording() {
  return {
      {.flag = "--record",
       .variable = "NPLUS1_RECORD",
       .value = "WHAT",
       .help = "What is kept of the run: full (every event, in DIR/recording), patterns (sums), or off (the "
               "summary)",
       .choices = "off|patterns|full",
       .fallback = "full",
       .take = take_record,
       .tell = [](const RunSettings& s, Config& c) { c.record = s.record == Record::kFull ? 1 : 0; }},
      {.flag = "--record-cap",
       .variable = "NPLUS1_RECORD_CAP",
       .value = "SIZE",
       .help = "The recording ends at this size, the run goes on; e.g. 512M; 0: no limit (default: 4G)",
       .fallback = "4G",
       .take = take_record_cap},
      {.flag = "--record-region",  // told as a text of its own
       .variable = "NPLUS1_RECORD_REGION",
       .value = "NAME",
       .help = "Record only what happens inside the region NAME (all is simulated)",
       .take = keep<&RunSettings::record_region>},
      {.flag = "--hash",
       .variable = "NPLUS1_HASH",
       .value = "WHICH",
       .help = "What is recorded of the content of messages: all (default), off, or a list of prefix (the "
               "first 8 bytes), crc32, poly61 (a hash that adds up), samples (four elements), kept (parts "
               "that a rank keeps); both is crc32,poly61",
       .fallback = "all",
       .take = take_hash,
       .tell = [](const RunSettings& s, Config& c) { c.content_parts = s.content.parts; }},
      {.flag = "--inline-payloads",
       .variable = "NPLUS1_INLINE_PAYLOADS",
       .value = "BYTES",
       .help = "Messages up to this size are recorded as they are, instead of their hashes: 0 to 64 "
               "(default: 64)",
       .fallback = "64",
       .take = take_inline_payloads,
       .tell = [](const RunSettings& s, Config& c) { c.whole_bytes = s.content.whole_bytes; }},
      {.flag = "--frames",
       .variable = "NPLUS1_FRAMES",
       .value = "N",
       .help = "Stack frames of a recorded call, 1 to 16 (default: 4)",
       .fallback = "4",
       .take = take_frames,
       .tell = [](const RunSettings& s, Config& c) { c.frames = static_cast<std::uint8_t>(s.frames); }},
      {.flag = "--pcontrol",
       .variable = "NPLUS1_PCONTROL",
       .value = "HOW",
       .help = "What MPI_Pcontrol means: mpip (0 pauses the recording, others resume it) or ipm ((1, "
               "\"name\") begins a region, (-1, \"name\") ends it)",
       .choices = "mpip|ipm",
       .fallback = "mpip",
       .take =
           [](const std::string& value, RunSettings& s) {
             s.pcontrol_ipm = value == "ipm";
             return Taken{};
           },
       .tell = [](const RunSettings& s, Config& c) { c.pcontrol_ipm = s.pcontrol_ipm ? 1 : 0; }},
  };
}

std::vector<RunOption> rows_of_platforms() {
  using netmodel::PlatformFlags;
  return {
      {.flag = "--platform",
       .variable = "NPLUS1_PLATFORM",
       .value = "FILE",
       .help =
           "A network with contention instead of --network: a SimGrid platform, whose links messages share",
       .path = Path::kWhole,
       .take = keep_for_platform<&PlatformFlags::platform>},
      {.flag = "--model",
       .variable = "NPLUS1_MODEL",
       .value = "WHICH",
       .help = "SimGrid's network model: SMPI (default), LV08, CM02 or IB",
       .choices = "SMPI|LV08|CM02|IB|ns-3",
       .take = keep_for_platform<&PlatformFlags::model>},
      {.flag = "--map",
       .variable = "NPLUS1_MAP",
       .value = "HOW",
       .help =
           "Ranks on hosts: round-robin, block, or a file with a host name for each rank (NAME*K: K ranks)",
       .path = Path::kIfThere,
       .take = keep_for_platform<&PlatformFlags::map>},
      {.flag = "--simgrid",
       .variable = "NPLUS1_SIMGRID",
       .value = "KEY:VALUE",
       .help = "SimGrid's own configuration, e.g. smpi/os:0:1e-6; may be repeated",
       .may_repeat = true,
       .take = keep_for_platform<&PlatformFlags::settings>},
      {.flag = "--host-speed",
       .variable = "NPLUS1_HOST_SPEED",
       .value = "SPEED|FILE[:FILE]",
       .help = "This machine's speed, e.g. 2.5Gf, or its file of nplus1 calibrate --host: compute times are "
               "scaled to the platform's hosts. HERE:THERE[:KIND], two files: to the host of the second",
       .take = keep_for_platform<&PlatformFlags::host_speed>},
  };
}

std::vector<RunOption> rows_of_switches() {
  return {
      {.flag = "--virtual-clocks",
       .variable = "NPLUS1_VIRTUAL_CLOCKS",
       .value = nullptr,
       .help = "gettimeofday, clock_gettime and time tell virtual time too, not MPI_Wtime alone",
       .take = keep_switch<&RunSettings::virtual_clocks>,
       .tell = [](const RunSettings& s, Config& c) { c.virtual_clocks = s.virtual_clocks ? 1 : 0; }},
      {.flag = "--record-accesses",
       .variable = "NPLUS1_RECORD_ACCESSES",
       .value = nullptr,
       .help = "Record, too, when the program touches the memory of its messages: what `nplus1 overlap` "
               "needs; implies --record full, and costs some 10 us for each first touch (docs/accesses.md)",
       .take = take_accesses,
       .tell = [](const RunSettings& s,
                  Config& c) { c.accesses = s.accesses && s.record == Record::kFull ? 1 : 0; }},
  };
}

std::vector<RunOption> all_rows() {
  std::vector<RunOption> rows = rows_of_times();
  for (const auto& more :
       {rows_of_the_simulation(), rows_of_the_recording(), rows_of_platforms(), rows_of_switches()})
    rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace

const std::vector<RunOption>& run_options() {
  static const std::vector<RunOption> rows = all_rows();
  return rows;
}

const RunOption& run_option(std::string_view flag) {
  const auto& rows = run_options();
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const RunOption& row) { return row.flag == flag; });
  if (found == rows.end()) throw std::out_of_range{"no option " + std::string{flag}};
  return *found;
}

std::string absolute(const RunOption& option, const std::string& value) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (option.path == Path::kWhole || (option.path == Path::kIfThere && fs::exists(value, error)))
    return fs::absolute(value).string();
  if (option.path != Path::kAfterColon) return value;
  constexpr std::string_view kKinds[] = {"file:", "recorded:"};
  for (const std::string_view kind : kKinds)
    if (value.compare(0, kind.size(), kind) == 0)
      return std::string{kind} + fs::absolute(value.substr(kind.size())).string();
  return value;
}

bool is_on(const std::string& value) {
  return !value.empty() && value != "0" && value != "off" && value != "no" && value != "false";
}

Config told(const RunSettings& settings) {
  Config ranks;
  for (const RunOption& option : run_options())
    if (option.tell != nullptr) option.tell(settings, ranks);
  return ranks;
}

}  // namespace nplus1::simnode::settings
