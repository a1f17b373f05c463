#include "simnode/node/settings.hpp"

#include <cstdlib>
#include <cstring>

namespace nplus1::simnode::node {
namespace {

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
  s.abort_on_deadlock = environment("NPLUS1_ON_DEADLOCK", "abort") != "continue";
  s.test_delay = environment("NPLUS1_TEST_DELAY", "");
  const std::string poll = environment("NPLUS1_POLL_COST", "200e-9,10e-6");  // FIRST[,CAP] in seconds
  const std::size_t comma = poll.find(',');
  s.poll_first = from_seconds(std::atof(poll.c_str()));
  s.poll_cap = comma == std::string::npos ? s.poll_first : from_seconds(std::atof(poll.c_str() + comma + 1));
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
  c.poll_first_ps = poll_first.count();
  c.poll_cap_ps = poll_cap.count();
  return c;
}

}  // namespace nplus1::simnode::node
