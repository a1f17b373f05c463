// Any text as a SimGrid platform: checked in a child, as before every run. Half of the mutations are of elements and attributes.
#include <algorithm>
#include <array>
#include <random>

#include "netmodel/simgrid/load.hpp"
#include "netmodel/simgrid/module.hpp"
#include "netmodel/simgrid/module_file.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {
namespace {

using Random = std::mt19937_64;

/// Loaded once, not by each child: thirty milliseconds each, and libFuzzer would not know of what it reaches there.
const bool kLoaded = netmodel::module_function(kSimgridCheckEntry).ok();

/// An attribute and what may stand in it: names that are there, amounts with their units, whole numbers, or words.
struct Attribute {
  const char* name;
  std::vector<const char*> values;
};

using Values = std::vector<const char*>;
const Values kNames{"a", "b",  "c",  "d",  "e",        "l",          "m", "w", "z",
                    "y", "n0", "n1", "n2", "c_link_0", "c_backbone", "r", ""};
const Values kRates{"1GBps", "1Gbps", "125MBps", "1e9", "1e-300", "1e300Bps",
                    "0",     "-1",    "nan",     "inf", "1",      "1Parsec"};
const Values kTimes{"1us", "0", "24us", "1s", "1e-9", "1e300s", "-1us", "nan", "inf", "1w", "10"};
const Values kSpeeds{"1Gf", "10Gf,5Gf", "1", "0", "-1Gf", "1e300", "nan", "1Gf,", "1Ef"};
const Values kCounts{"1", "2", "4", "0", "-1", "1000", "2147483647", "2147483648", "1e3", "x"};
const Values kRadicals{"0-3", "0,1,2,3", "0-1,4-5",   "3-0",        "0-999",
                       "0-",  "-",       "0-2000000", "2147483647", "0&#45;7"};
const Values kYes{"YES", "NO", "yes", "maybe"};

const std::vector<Attribute> kAttributes{
    {"id", kNames},
    {"src", kNames},
    {"dst", kNames},
    {"gw_src", kNames},
    {"gw_dst", kNames},
    {"router_id", kNames},
    {"prefix", kNames},
    {"suffix", kNames},
    {"name", kNames},
    {"bandwidth", kRates},
    {"bw", kRates},
    {"bb_bw", kRates},
    {"loopback_bw", kRates},
    {"limiter_link", kRates},
    {"bw_in", kRates},
    {"latency", kTimes},
    {"lat", kTimes},
    {"bb_lat", kTimes},
    {"loopback_lat", kTimes},
    {"speed", kSpeeds},
    {"core", kCounts},
    {"radical", kRadicals},
    {"symmetrical", kYes},
    {"direction", {"UP", "DOWN", "NONE", "LEFT"}},
    {"routing",
     {"Full", "Floyd", "Dijkstra", "DijkstraCache", "Cluster", "Vivaldi", "None", "Wifi", "Star", "Empty"}},
    {"sharing_policy", {"SHARED", "FATPIPE", "SPLITDUPLEX", "WIFI", "FULLDUPLEX", "CROSSTRAFFIC"}},
    {"bb_sharing_policy", {"SHARED", "FATPIPE", "SPLITDUPLEX"}},
    {"topology", {"FLAT", "TORUS", "FAT_TREE", "DRAGONFLY", "RING"}},
    {"topo_parameters",
     {"2,2", "4", "2;2,2;1,2;1,1", "2,1;1,1;2,1;1", "1,1,1,1", "0,4", "2;2;2;2", "3;2,2,1;1,1,1;1,1,1",
      "-2,-2", "2,2;", "4,1;1,1;1,1;1", "99999999999,1"}},
    {"coordinates", {"0 0 1", "1 2 3", "1 2", "nan 0 0", "", "1e308 1e308 1e308"}},
    {"value", {"LV08", "CM02", "SMPI", "0", "1", "1e300", "-1", "65536:1.1;1000:0.5", "0:1:2;", "yes", "x"}},
    {"state", {"ON", "OFF"}},
    {"mode", {"BANDWIDTH", "LATENCY"}},
    {"version", {"4.1", "4", "3", "5", "nan"}}};

const Values kElements{
    "<host id=\"e\" speed=\"1Gf\"/>\n",
    "<host id=\"d\" speed=\"1Gf\" core=\"4\"><prop id=\"k\" value=\"1\"/></host>\n",
    "<link id=\"m\" bandwidth=\"1GBps\" latency=\"1us\"/>\n",
    "<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>\n",
    "<router id=\"r\"/>\n",
    "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>\n",
    "<route src=\"a\" dst=\"e\"><link_ctn id=\"l\" direction=\"UP\"/></route>\n",
    "<zoneRoute src=\"z\" dst=\"y\" gw_src=\"a\" gw_dst=\"c\"><link_ctn id=\"l\"/></zoneRoute>\n",
    "<bypassRoute src=\"a\" dst=\"b\"><link_ctn id=\"m\"/></bypassRoute>\n",
    "<bypassZoneRoute src=\"z\" dst=\"y\" gw_src=\"a\" gw_dst=\"c\"><link_ctn id=\"m\"/></bypassZoneRoute>\n",
    "<backbone id=\"bb\" bandwidth=\"1GBps\" latency=\"1us\"/>\n",
    "<host_link id=\"a\" up=\"l\" down=\"l\"/>\n",
    "<cabinet id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-3\" speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\"/>\n",
    "<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-3\" speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\"/>\n",
    "<peer id=\"p\" speed=\"1Gf\" bw_in=\"1GBps\" bw_out=\"1GBps\" coordinates=\"0 0 1\"/>\n",
    "<zone id=\"y\" routing=\"Full\"><host id=\"c\" speed=\"1Gf\"/></zone>\n",
    "<zone id=\"x\" routing=\"None\"/>\n",
    "<config><prop id=\"network/model\" value=\"LV08\"/></config>\n",
    "<config><prop id=\"smpi/os\" value=\"0:1:2;100:3:4\"/></config>\n",
    "<config><prop id=\"network/bandwidth-factor\" value=\"0:1;1000:0.5\"/></config>\n",
    "<config><prop id=\"smpi/send-is-detached-thresh\" value=\"1\"/></config>\n",
    "<config><prop id=\"network/TCP-gamma\" value=\"0\"/></config>\n",
    "<config><prop id=\"network/crosstraffic\" value=\"0\"/></config>\n",
    "<storage id=\"s\" typeId=\"t\" attach=\"a\"/>\n",
    "<trace id=\"t\" periodicity=\"1.0\">0 1\n1 0.5\n</trace>\n",
    "<trace_connect kind=\"BANDWIDTH\" trace=\"t\" element=\"l\"/>\n",
    "<prop id=\"k\" value=\"v\"/>\n",
    "<!-- a remark -->\n",
    "<!--",
    "</zone>\n"};

template <class List>
const auto& one_of(const List& list, Random& random) {
  return list[random() % list.size()];
}

/// Where a value begins and how long it is, of one of the attributes.
std::pair<std::size_t, std::size_t> value_of(const std::string& text, std::string& name, Random& random) {
  const std::size_t equals = text.find("=\"", random() % text.size());
  if (equals == std::string::npos) return {text.size(), 0};
  const std::size_t space = text.find_last_of(" \t\n", equals);
  name = text.substr(space + 1, equals - space - 1);
  return {equals + 2, std::min(text.find('"', equals + 2), text.size()) - equals - 2};
}

/// Another value that the attribute may have.
void change_value(std::string& text, Random& random) {
  std::string name;
  const auto [at, length] = value_of(text, name, random);
  const auto known = std::find_if(kAttributes.begin(), kAttributes.end(),
                                  [&](const Attribute& a) { return a.name == name; });
  if (known == kAttributes.end()) return;
  text.replace(at, length, one_of(known->values, random));
}

void add_attribute(std::string& text, Random& random) {
  const std::size_t end = text.find_first_of("/>", random() % text.size());
  const Attribute& attribute = one_of(kAttributes, random);
  if (end != std::string::npos)
    text.insert(end, std::string{" "} + attribute.name + "=\"" + one_of(attribute.values, random) + "\"");
}

void drop_attribute(std::string& text, Random& random) {
  std::string name;
  const auto [at, length] = value_of(text, name, random);
  if (at == text.size() || at < name.size() + 3) return;
  text.erase(at - name.size() - 3, name.size() + length + 4);
}

/// An element before another, or one less.
void change_elements(std::string& text, bool add, Random& random) {
  const std::size_t at = text.find('<', random() % text.size());
  if (at == std::string::npos) return;
  if (add)
    text.insert(at, one_of(kElements, random));
  else
    text.erase(at, std::min(text.find('>', at), text.size() - 1) + 1 - at);
}

}  // namespace

std::optional<std::string> mutated_by_structure(Input input, std::uint64_t seed) {
  if (input.empty()) return std::nullopt;
  Random random{seed};
  std::string text{as_text(input)};
  for (std::uint64_t changes = 1 + random() % 3; changes > 0 && !text.empty(); --changes) {
    const std::uint64_t what = random() % 8;
    if (what < 3)
      change_value(text, random);
    else if (what < 5)
      change_elements(text, true, random);
    else if (what == 5)
      change_elements(text, false, random);
    else if (what == 6)
      add_attribute(text, random);
    else
      drop_attribute(text, random);
  }
  return text;
}

bool run(Input input) {
  if (!kLoaded) return false;
  const MemoryFile file{as_text(input)};
  netmodel::PlatformOptions options;
  options.file = file.path();
  options.ranks = 4;
  return netmodel::validate_platform(options).ok();
}

std::vector<std::string> seeds() {
  const std::string head =
      "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform "
      "version=\"4.1\">\n";
  const std::string cluster =
      "<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-3\" speed=\"10Gf\" bw=\"1.25GBps\" "
      "lat=\"24us\"";
  const std::string tail = "</platform>\n";
  return {
      head + cluster + "/>\n" + tail,
      head + cluster +
          " topology=\"TORUS\" topo_parameters=\"2,2\" loopback_bw=\"5GBps\" loopback_lat=\"0.5us\"/>\n" +
          tail,
      head + cluster + " topology=\"FAT_TREE\" topo_parameters=\"2;2,2;1,2;1,1\"/>\n" + tail,
      head + cluster +
          " topology=\"DRAGONFLY\" topo_parameters=\"2,1;1,1;2,1;1\" sharing_policy=\"SPLITDUPLEX\" "
          "limiter_link=\"1GBps\"/>\n" +
          tail,
      head + cluster + " bb_bw=\"2GBps\" bb_lat=\"1us\" router_id=\"r\"/>\n" + tail,
      head +
          "<config><prop id=\"network/model\" value=\"LV08\"/></config>\n<zone id=\"w\" routing=\"Full\">\n"
          "<zone id=\"z\" routing=\"Full\">\n<host id=\"a\" speed=\"10Gf,5Gf\" core=\"2\"><prop id=\"k\" "
          "value=\"v\"/></host>\n<host id=\"b\" speed=\"1Gf\"/>\n<link id=\"l\" bandwidth=\"1GBps\" "
          "latency=\"1us\"/>\n"
          "<link id=\"f\" bandwidth=\"1GBps\" latency=\"1us\" sharing_policy=\"FATPIPE\"/>\n<route src=\"a\" "
          "dst=\"b\" "
          "symmetrical=\"NO\"><link_ctn id=\"l\"/><link_ctn id=\"f\"/></route>\n<route src=\"b\" dst=\"a\" "
          "symmetrical=\"NO\"><link_ctn id=\"l\"/></route>\n</zone>\n"
          "<zone id=\"y\" routing=\"Floyd\">\n<host id=\"c\" speed=\"1Gf\"/>\n<host id=\"d\" "
          "speed=\"1Gf\"/>\n"
          "<link id=\"m\" bandwidth=\"1GBps\" latency=\"1us\"/>\n<route src=\"c\" dst=\"d\"><link_ctn "
          "id=\"m\"/></route>\n"
          "</zone>\n<link id=\"o\" bandwidth=\"1GBps\" latency=\"1us\"/>\n<zoneRoute src=\"z\" dst=\"y\" "
          "gw_src=\"a\" "
          "gw_dst=\"c\"><link_ctn id=\"o\"/></zoneRoute>\n</zone>\n" +
          tail,
      head +
          "<zone id=\"w\" routing=\"Vivaldi\">\n<peer id=\"a\" speed=\"1Gf\" bw_in=\"1GBps\" "
          "bw_out=\"1GBps\" "
          "coordinates=\"0 0 1\"/>\n<peer id=\"b\" speed=\"1Gf\" bw_in=\"1GBps\" bw_out=\"1GBps\" "
          "coordinates=\"1 2 "
          "3\"/>\n<peer id=\"c\" speed=\"1Gf\" bw_in=\"1GBps\" bw_out=\"1GBps\" coordinates=\"4 5 "
          "6\"/>\n<peer id=\"d\" "
          "speed=\"1Gf\" bw_in=\"1GBps\" bw_out=\"1GBps\" coordinates=\"7 8 9\"/>\n</zone>\n" +
          tail};
}

bool is_text() {
  return true;
}

}  // namespace nplus1::fuzz
