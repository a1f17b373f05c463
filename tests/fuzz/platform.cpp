// Any text as a SimGrid platform: checked in a child, as before every run.
#include "netmodel/simgrid/load.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {

bool run(Input input) {
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
