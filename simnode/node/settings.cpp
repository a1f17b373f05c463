#include "simnode/node/settings.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "support/size.hpp"

namespace nplus1::simnode::node {
namespace {

constexpr std::uint64_t kMostFrames = 16;
constexpr const char* kDefaultRecordCap = "4G";

std::string environment(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::string{fallback} : std::string{value};
}

bool is_on(const char* name, bool fallback) {
  const std::string value = environment(name, fallback ? "1" : "0");
  return value != "0" && value != "off" && value != "no" && value != "false";
}

/// The command line has checked all of it; a line for mpirun that was pasted and changed comes unchecked.
Error wrong(const char* name, const Error& error) {
  return {std::string{name} + ": " + error.what, error.remedy};
}

Error wrong(const char* name, const std::string& value, const char* remedy) {
  return wrong(name, {"'" + value + "' is not understood", remedy});
}

int number(const char* name) {
  return std::atoi(environment(name, "0").c_str());
}

/// How many ranks there are and where, as the job's last rank knew it. TCP is for ranks of other hosts, and for who
/// asks for it.
void read_job(Settings& s) {
  const int world = number("NPLUS1_WORLD"), here = number("MPI_LOCALNRANKS");
  s.ranks = world > 1 ? world - 1 : 0;
  const bool one_host = world > 1 && here == world;
  const bool tcp = environment("NPLUS1_TRANSPORT", "auto") == "tcp";
  s.hosts = !one_host ? Door::Hosts::kSeveral : tcp ? Door::Hosts::kThisOverTcp : Door::Hosts::kThis;
}

std::optional<Error> read_recording(Settings& s) {
  const std::string record = environment("NPLUS1_RECORD", "full");
  s.record = record == "off" ? Record::kOff : record == "patterns" ? Record::kPatterns : Record::kFull;
  const std::string cap = environment("NPLUS1_RECORD_CAP", kDefaultRecordCap);
  const auto cap_bytes = parse_size(cap);
  if (!cap_bytes) return wrong("NPLUS1_RECORD_CAP", cap, "give a size such as 512M, or 0 for no limit");
  s.record_cap = *cap_bytes;
  s.accesses = is_on("NPLUS1_RECORD_ACCESSES", false);
  if (s.accesses) s.record = Record::kFull;
  s.record_region = environment("NPLUS1_RECORD_REGION", "");
  const std::string hash = environment("NPLUS1_HASH", "all");
  const auto content = events::payload::parse_choice(hash);
  if (!content) return wrong("NPLUS1_HASH", hash, "give all, off, or a list as nplus1 run --help has it");
  s.content = *content;
  const std::string whole = environment("NPLUS1_INLINE_PAYLOADS", "64");
  const auto whole_bytes = events::payload::parse_whole_bytes(whole);
  if (!whole_bytes) return wrong("NPLUS1_INLINE_PAYLOADS", whole, "give a number from 0 to 64");
  if (s.content.parts != 0) s.content.whole_bytes = *whole_bytes;
  const std::string text = environment("NPLUS1_FRAMES", "4");
  const auto frames = parse_size(text);
  if (!frames || *frames < 1 || *frames > kMostFrames)
    return wrong("NPLUS1_FRAMES", text, "give a number from 1 to 16");
  s.frames = static_cast<unsigned>(*frames);
  s.pcontrol_ipm = environment("NPLUS1_PCONTROL", "mpip") == "ipm";
  return std::nullopt;
}

std::optional<Error> read_times(Settings& s) {
  s.compute = environment("NPLUS1_COMPUTE", "measured");
  auto times = semantics::parse_compute(s.compute);
  if (!times) return wrong("NPLUS1_COMPUTE", times.error());
  s.compute_times = std::move(times).value();
  if (s.compute_times.mode == semantics::ComputeMode::kTable) {
    auto rules = semantics::read_compute_rules(s.compute_times.table);
    if (!rules) return wrong("NPLUS1_COMPUTE", rules.error());
    s.compute_rules = std::move(rules).value();
  }
  if (s.compute_times.mode == semantics::ComputeMode::kRecorded) {
    auto intervals = events::recording::read_compute_intervals(s.compute_times.table);
    if (!intervals) return wrong("NPLUS1_COMPUTE", intervals.error());
    s.compute_intervals = std::move(intervals).value();
    const auto recorded = static_cast<int>(s.compute_intervals.of_rank.size());
    if (s.ranks > 0 && s.ranks != recorded)
      return wrong("NPLUS1_COMPUTE", Error{fmt::format("{} is of {} ranks, and this job has {}",
                                                       s.compute_times.table, recorded, s.ranks),
                                           "record the program with as many ranks"});
  }
  const auto poll = semantics::parse_poll_cost(environment("NPLUS1_POLL_COST", "200ns,10us"));
  if (!poll) return wrong("NPLUS1_POLL_COST", poll.error());
  s.poll_cost = poll.value();
  return std::nullopt;
}

}  // namespace

Result<Settings> settings_from_environment() {
  Settings s;
  s.network = environment("NPLUS1_NETWORK", std::string{netmodel::kDefaultNetwork}.c_str());
  s.platform = {environment("NPLUS1_PLATFORM", ""),
                environment("NPLUS1_MODEL", ""),
                environment("NPLUS1_MAP", ""),
                environment("NPLUS1_SIMGRID", ""),
                environment("NPLUS1_HOST_SPEED", ""),
                {},
                {}};
  s.clock = environment("NPLUS1_CLOCK", "auto");
  s.protocol = environment("NPLUS1_PROTOCOL", "conservative");
  s.collectives = environment("NPLUS1_COLLECTIVES", "mpich");
  s.output = environment("NPLUS1_OUTPUT", "");
  s.direct = is_on("NPLUS1_DIRECT", true);
  s.virtual_clocks = is_on("NPLUS1_VIRTUAL_CLOCKS", false);
  s.quiet = is_on("NPLUS1_QUIET", false);
  s.native = is_on("NPLUS1_NATIVE_RECORD", false);
  s.abort_on_deadlock = environment("NPLUS1_ON_DEADLOCK", "abort") != "continue";
  s.test_delay = environment("NPLUS1_TEST_DELAY", "");
  read_job(s);
  for (const auto& read : {read_times, read_recording})
    if (auto error = read(s)) return *std::move(error);
  return s;
}

transport::Config Settings::config() const {
  transport::Config c;
  c.clock = clock == "wall"           ? transport::ClockChoice::kWall
            : clock == "cpu"          ? transport::ClockChoice::kCpu
            : clock == "instructions" ? transport::ClockChoice::kInstructions
                                      : transport::ClockChoice::kAuto;
  c.direct = direct ? 1 : 0;
  c.riesen = protocol == "riesen" ? 1 : 0;
  c.virtual_clocks = virtual_clocks ? 1 : 0;
  c.quiet = quiet ? 1 : 0;
  c.native = native ? 1 : 0;
  c.compute_mode = static_cast<std::uint8_t>(compute_times.mode);
  c.compute_fixed_ps = compute_times.fixed.count();
  c.compute_scale = compute_times.scale;
  c.poll_first_ps = poll_cost.first().count();
  c.poll_cap_ps = poll_cost.cap().count();
  c.record = record == Record::kFull ? 1 : 0;
  c.content_parts = content.parts;
  c.whole_bytes = content.whole_bytes;
  c.frames = static_cast<std::uint8_t>(frames);
  c.pcontrol_ipm = pcontrol_ipm ? 1 : 0;
  c.twins = compute_times.warm && record == Record::kFull ? 1 : 0;
  c.accesses = accesses && record == Record::kFull ? 1 : 0;
  return c;
}

}  // namespace nplus1::simnode::node
