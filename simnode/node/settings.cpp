#include "simnode/node/settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "support/size.hpp"

namespace nplus1::simnode::node {
namespace {

constexpr int kMostFrames = 16;
constexpr const char* kDefaultRecordCap = "4G";

std::string environment(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::string{fallback} : std::string{value};
}

bool is_on(const char* name, bool fallback) {
  const std::string value = environment(name, fallback ? "1" : "0");
  return value != "0" && value != "off" && value != "no" && value != "false";
}

template <std::size_t N>
void put(char (&field)[N], const std::string& text) {
  std::strncpy(field, text.c_str(), N - 1);
}

void read_recording(Settings& s) {
  const std::string record = environment("NPLUS1_RECORD", "full");
  s.record = record == "off" ? Record::kOff : record == "patterns" ? Record::kPatterns : Record::kFull;
  s.record_cap = parse_size(environment("NPLUS1_RECORD_CAP", kDefaultRecordCap)).value_or(0);
  s.record_region = environment("NPLUS1_RECORD_REGION", "");
  s.content =
      events::payload::parse_choice(environment("NPLUS1_HASH", "all")).value_or(events::payload::Choice{});
  if (const auto bytes = events::payload::parse_whole_bytes(environment("NPLUS1_INLINE_PAYLOADS", "64"));
      bytes && s.content.parts != 0)
    s.content.whole_bytes = *bytes;
  const int frames = std::atoi(environment("NPLUS1_FRAMES", "4").c_str());
  s.frames = static_cast<unsigned>(std::clamp(frames, 1, kMostFrames));
  s.pcontrol_ipm = environment("NPLUS1_PCONTROL", "mpip") == "ipm";
}

}  // namespace

Settings settings_from_environment() {
  Settings s;
  s.network = environment("NPLUS1_NETWORK", std::string{netmodel::kDefaultNetwork}.c_str());
  s.platform = {environment("NPLUS1_PLATFORM", ""), environment("NPLUS1_MODEL", ""),
                environment("NPLUS1_MAP", ""), environment("NPLUS1_SIMGRID", ""),
                environment("NPLUS1_HOST_SPEED", "")};
  s.compute = environment("NPLUS1_COMPUTE", "measured");
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
  const std::string poll = environment("NPLUS1_POLL_COST", "200e-9,10e-6");  // FIRST[,CAP] in seconds
  const std::size_t comma = poll.find(',');
  s.poll_first = from_seconds(std::atof(poll.c_str()));
  s.poll_cap = comma == std::string::npos ? s.poll_first : from_seconds(std::atof(poll.c_str() + comma + 1));
  read_recording(s);
  return s;
}

transport::Config Settings::config(const std::string& network_for_ranks) const {
  transport::Config c;
  put(c.network, network_for_ranks);
  put(c.compute, compute);
  put(c.clock, clock);
  put(c.output, output);
  c.direct = direct ? 1 : 0;
  c.riesen = protocol == "riesen" ? 1 : 0;
  c.virtual_clocks = virtual_clocks ? 1 : 0;
  c.quiet = quiet ? 1 : 0;
  c.native = native ? 1 : 0;
  c.poll_first_ps = poll_first.count();
  c.poll_cap_ps = poll_cap.count();
  c.record = record == Record::kFull ? 1 : 0;
  c.content_parts = content.parts;
  c.whole_bytes = content.whole_bytes;
  c.frames = static_cast<std::uint8_t>(frames);
  c.pcontrol_ipm = pcontrol_ipm ? 1 : 0;
  put(c.record_region, record_region);
  return c;
}

}  // namespace nplus1::simnode::node
