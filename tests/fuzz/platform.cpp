// Any text as a SimGrid platform: checked in a child, as before every run.
#include "netmodel/simgrid/load.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {

void run(Input input) {
  const MemoryFile file{as_text(input)};
  netmodel::PlatformOptions options;
  options.file = file.path();
  options.ranks = 4;
  static_cast<void>(netmodel::validate_platform(options));
}

std::vector<std::string> seeds() {
  return {
      "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform "
      "version=\"4.1\">\n"
      "<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-3\" speed=\"10Gf\" bw=\"1.25GBps\" "
      "lat=\"24us\"/>\n"
      "</platform>\n"};
}

bool is_text() {
  return true;
}

}  // namespace nplus1::fuzz
