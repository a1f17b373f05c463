#include "netmodel/simgrid/check.hpp"

#include <unistd.h>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "netmodel/simgrid/loading.hpp"
#include "netmodel/simgrid/module.hpp"
#include "netmodel/simgrid/platform_links.hpp"
#include "netmodel/simgrid/platform_text.hpp"
#include "netmodel/simgrid/simgrid_flows.hpp"
#include "netmodel/text.hpp"

/// Where SimGrid's parser is: exported, declared in a header that is not installed.
extern "C" int surf_parse_lineno;

namespace nplus1::netmodel {
namespace {

namespace sg = simgrid::s4u;

constexpr int kParsing = -1;  // the line is the parser's
constexpr int kNoLine = PlatformText::kNoLine;

/// What a crash would be about.
int current_line = kNoLine;
std::string about;

int line_now() {
  return current_line == kParsing ? surf_parse_lineno : current_line;
}

/// SimGrid aborts on much, and follows a null pointer where a zone has no route between two hosts.
void say_and_die(int signal) {
  if (about.empty() && signal != SIGABRT)
    about = std::string{"SimGrid crashes ("} + strsignal(signal) + ")\n";
  char line[32];
  std::snprintf(line, sizeof(line), "%s%d\n", kLineMark, line_now());
  for (const char* text : {about.c_str(), static_cast<const char*>(line)})
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  _exit(1);
}

/// The lines in which hosts and links were declared.
class Declared {
 public:
  Declared() {
    sg::Host::on_creation_cb([this](const sg::Host& host) { hosts_[host.get_name()] = line_now(); });
    sg::Link::on_creation_cb([this](const sg::Link& link) { links_[link.get_name()] = line_now(); });
  }
  [[nodiscard]] int host(const std::string& name) const { return line(hosts_, name); }
  [[nodiscard]] int link(const std::string& name) const { return line(links_, name); }

 private:
  using Lines = std::unordered_map<std::string, int>;
  static int line(const Lines& lines, const std::string& name) {
    const auto found = lines.find(name);
    return found == lines.end() ? kNoLine : found->second;
  }
  Lines hosts_;
  Lines links_;
};

bool positive(double value) {
  return std::isfinite(value) && value > 0;
}

/// Values that SimGrid takes and no machine has.
void check_values(const sg::Engine& engine, const Declared& declared, const PlatformText& source) {
  for (const sg::Host* host : engine.get_all_hosts())
    if (!positive(host->get_speed()))
      throw source.error(declared.host(host->get_name()),
                         "the speed of host " + in_quotes(host->get_name()) + " is not above 0");
  for (const sg::Link* link : engine.get_all_links()) {
    // To look for the line of each of many links would take as long as all of them and the whole file together.
    const auto line = [&] {
      const int told = declared.link(link->get_name());
      return told == kNoLine ? source.line_of_link(link->get_name()) : told;
    };
    if (!positive(link->get_bandwidth()))
      throw source.error(line(), "the bandwidth of link " + in_quotes(link->get_name()) + " is not above 0");
    if (!std::isfinite(link->get_latency()) || link->get_latency() < 0)
      throw source.error(line(), "the latency of link " + in_quotes(link->get_name()) + " is below 0");
    // SimGrid's programs tell each station's rate by a call, and no message can be sent without.
    if (link->get_sharing_policy() == sg::Link::SharingPolicy::WIFI)
      throw source.error(
          line(), "link " + in_quotes(link->get_name()) +
                      " is wifi, which is not simulated: a platform file cannot say its stations' rates");
  }
}

/// SimGrid makes all hosts, switches and links of a cluster before it says anything: numbers that no memory holds
/// are refused before it begins.
void check_sizes(const PlatformText& source) {
  constexpr double kMostHosts = 1 << 20;
  constexpr double kMostCables = 16;  // between two switches
  const auto refuse = [&](int line, const std::string& what) {
    throw source.error(
        line, what + "; more than " + std::to_string(static_cast<int>(kMostHosts)) + " are not simulated");
  };
  double hosts = 0;
  for (const char* name : {"cluster", "cabinet"})
    for (const PlatformElement& element : source.elements(name)) {
      for (const auto& [first, last] : ranges_of(element.attribute("radical"))) {
        hosts += std::max(0.0, last - first + 1);
        // SimGrid counts up to the last with an int, and beyond.
        if (hosts > kMostHosts || std::max(first, last) >= std::numeric_limits<int>::max())
          refuse(element.line, "the radical names too many hosts");
      }
      const bool fat_tree = element.attribute("topology") == "FAT_TREE";
      const double made = largest_product(element.attribute("topo_parameters"), fat_tree);
      if (made > kMostHosts * (fat_tree ? 1 : kMostCables))
        refuse(element.line, "the topology's parameters make too many hosts or switches");
    }
}

/// Where the topology's parameters make fewer hosts than the radical names, SimGrid leaves the rest out.
void check_clusters(const PlatformText& source) {
  for (const PlatformElement& element : source.elements("cluster")) {
    const std::string prefix = element.attribute("prefix");
    const std::string suffix = element.attribute("suffix");
    std::size_t named = 0;
    std::size_t made = 0;
    for (const auto& [first, last] : ranges_of(element.attribute("radical")))
      for (double number = first; number <= last; ++number, ++named) {
        const std::string host = prefix + std::to_string(static_cast<int>(number)) + suffix;
        made += sg::Host::by_name_or_null(host) != nullptr ? 1U : 0U;
      }
    if (made < named)
      throw source.error(element.line, "the radical names " + std::to_string(named) +
                                           " hosts, but the topology's parameters make only " +
                                           std::to_string(made));
  }
}

/// Looks up a route, which SimGrid does only when it is needed; ends the process if the zone has none at all. One that is
/// missing among others comes back empty; a host that has no link to a star's centre is an exception without words.
void need_route(const sg::Host* from, const sg::Host* to, const Declared& declared,
                const PlatformText& source) {
  about = "there is no route from " + from->get_name() + " to " + to->get_name() + "\n";
  current_line = declared.host(from->get_name());
  std::vector<sg::Link*> links;
  double latency = 0;
  try {
    from->route_to(to, links, &latency);
  } catch (const std::out_of_range&) {
    links.clear();
    latency = 0;
  }
  if (links.empty() && latency <= 0) throw source.error(current_line, about.substr(0, about.size() - 1));
  about.clear();
}

std::size_t need_routes(std::vector<sg::Host*> hosts, const Declared& declared, const PlatformText& source) {
  constexpr std::size_t kAllPairs = 64;
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  const std::size_t n = hosts.size();
  const std::size_t stride = n <= kAllPairs ? 1 : n / 8;
  std::size_t looked_up = 0;
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t hop = 1; hop < n; hop += stride, ++looked_up)
      need_route(hosts[from], hosts[(from + hop) % n], declared, source);
  return looked_up;
}

/// What SimGrid reads when the first message starts: the factors.
void send_one(sg::Engine& engine, const std::vector<sg::Host*>& hosts, bool ns3, const PlatformText& source) {
  current_line = source.line_of("-factor");
  about = current_line == kNoLine ? "no message can be sent\n"
                                  : "no message can be sent; factors are SIZE:FACTOR;SIZE:FACTOR...\n";
  SimgridFlows flows{engine, hosts, ns3};
  flows.start(0, RankId{0}, RankId{static_cast<std::int32_t>(hosts.size()) - 1}, bytes(1000), kTimeZero, 0);
  std::vector<netmodel::Flows::Completion> done;
  flows.advance(kNever, done);
}

PlatformReport check(const PlatformOptions& options, const PlatformText& source) {
  check_sizes(source);
  const Declared declared;
  sg::Engine& engine = start_engine(options);
  current_line = kParsing;
  load(engine, options);
  if (engine.get_host_count() == 0) throw source.error(line_now(), "the platform has no hosts");
  current_line = kNoLine;
  check_values(engine, declared, source);
  check_clusters(source);
  const auto hosts = hosts_of_ranks(engine, options);
  if (!hosts) throw hosts.error();
  if (const auto protocol = protocol_in_force(); !protocol) {
    const std::string& what = protocol.error().what;
    throw Error{source.error(source.line_of(what.substr(0, what.find(':'))), what).what,
                protocol.error().remedy};
  }
  const std::vector<sg::Host*> used = options.ranks == 0 ? engine.get_all_hosts() : hosts.value();
  PlatformReport report{engine.get_host_count(), engine.get_link_count(), need_routes(used, declared, source),
                        needs_simgrid(engine, options)};
  send_one(engine, used, options.model == "ns-3", source);
  return report;
}

void cut(std::string& text, const std::string& part) {
  if (const std::size_t at = text.find(part); at != std::string::npos) text.erase(at, part.size());
}

/// SimGrid's own words, with a line if they have none.
Error translated(const std::exception& error, const PlatformText& source) {
  std::string what = error.what();
  cut(what, "******* BIG FAT WARNING *********\n ");
  const std::string prefix = "Parse error at ";
  if (what.rfind(prefix, 0) == 0) return {what.substr(prefix.size()), {}};
  if (what == "stoi") what = "a number is expected in radical or topo_parameters";
  return source.error(line_now(), what);
}

}  // namespace

Result<PlatformReport> check_simgrid_platform(const PlatformOptions& options) {
  for (const int signal : {SIGABRT, SIGFPE, SIGSEGV}) std::signal(signal, say_and_die);
  const PlatformText source{options.file};
  try {
    return check(options, source);
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {
    return translated(error, source);
  }
}

}  // namespace nplus1::netmodel
