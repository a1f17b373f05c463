#include "netmodel/simgrid/loading.hpp"
#include "netmodel/simgrid/link_changes.hpp"

#include <simgrid/s4u.hpp>
#include <xbt/config.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "netmodel/simgrid/host_map.hpp"

namespace nplus1::netmodel {
namespace {

namespace sg = simgrid::s4u;

/// SimGrid's handlers of SIGSEGV and the like would end the simulator with its own words.
class KeepSignalHandlers {
 public:
  KeepSignalHandlers() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &before_[i]);
  }
  ~KeepSignalHandlers() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  KeepSignalHandlers(const KeepSignalHandlers&) = delete;
  KeepSignalHandlers& operator=(const KeepSignalHandlers&) = delete;

 private:
  static constexpr std::array<int, 3> kSignals{SIGINT, SIGSEGV, SIGBUS};
  std::array<struct sigaction, 3> before_{};
};

std::vector<std::string> arguments_of(const PlatformOptions& options) {
  // One nanosecond instead of ten microseconds, which is more than most messages take.
  std::vector<std::string> words{"nplus1", "--log=root.thresh:critical", "--cfg=surf/precision:1e-9",
                                 "--cfg=network/model:" + options.model};
  for (const std::string& setting : options.settings)
    if (setting != kSimgridSolver && setting != kOwnSolver && !LinkChanges::is_ours(setting))
      words.push_back("--cfg=" + setting);
  return words;
}

/// Options that SMPI declares when it starts, which it never does here. Platform files written for SMPI may
/// set all of them; what they say about collectives and processes is left to the options of nplus1.
void declare_smpi_options() {
  for (const char* key : {"smpi/os", "smpi/ois", "smpi/or"})
    simgrid::config::declare_flag<std::string>(key, "CPU time of MPI calls, by size", "0:0:0:0:0");
  for (const char* key : {"smpi/coll-selector",
                          "smpi/gather",
                          "smpi/allgather",
                          "smpi/barrier",
                          "smpi/reduce_scatter",
                          "smpi/scatter",
                          "smpi/allgatherv",
                          "smpi/allreduce",
                          "smpi/alltoall",
                          "smpi/alltoallv",
                          "smpi/bcast",
                          "smpi/reduce",
                          "smpi/display-timing",
                          "smpi/keep-temps",
                          "smpi/tmpdir",
                          "smpi/privatization",
                          "smpi/privatize-libs",
                          "smpi/shared-malloc-blocksize",
                          "smpi/shared-malloc-hugepage",
                          "smpi/finalization-barrier"})
    simgrid::config::declare_flag<std::string>(key, "not used", "");
}

/// Runs of digits by their value, so that node-2 comes before node-10.
bool natural_less(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    const auto number = [&](const std::string& s, std::size_t& at) {
      const std::size_t begin = at;
      while (at < s.size() && digit(s[at])) ++at;
      const std::size_t significant = std::min(s.find_first_not_of('0', begin), at);
      return s.substr(significant, at - significant);
    };
    const std::string x = number(a, i);
    const std::string y = number(b, j);
    if (x != y) return x.size() != y.size() ? x.size() < y.size() : x < y;
  }
  return std::pair{a.size() - i, a} < std::pair{b.size() - j, b};
}

std::vector<sg::Host*> hosts_in_order(const sg::Engine& engine) {
  std::vector<sg::Host*> hosts = engine.get_all_hosts();
  std::sort(hosts.begin(), hosts.end(),
            [](const sg::Host* a, const sg::Host* b) { return natural_less(a->get_name(), b->get_name()); });
  return hosts;
}

}  // namespace

sg::Engine& start_engine(const PlatformOptions& options) {
  const KeepSignalHandlers keep;
  declare_smpi_options();
  std::vector<std::string> words = arguments_of(options);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  return *new sg::Engine{&argc, argv.data()};
}

void load(sg::Engine& engine, const PlatformOptions& options) {
  static sg::Engine* loaded = nullptr;
  loaded = &engine;
  engine.load_platform(options.file);
  // Before the static objects of SimGrid and ns-3, which the destructor needs and which exist by now.
  std::atexit([] { delete loaded; });
}

Result<std::vector<sg::Host*>> hosts_of_ranks(const sg::Engine& engine, const PlatformOptions& options) {
  const std::vector<sg::Host*> hosts = hosts_in_order(engine);
  std::vector<MapHost> names;
  for (const sg::Host* host : hosts)
    names.push_back({host->get_name(), static_cast<std::size_t>(host->get_core_count())});
  const auto map = map_ranks(options.map, static_cast<std::size_t>(options.ranks), names);
  if (!map) return map.error();
  std::vector<sg::Host*> by_rank;
  for (const std::size_t h : map.value()) by_rank.push_back(hosts[h]);
  return by_rank;
}

Result<FlowProtocol::Parameters> protocol_in_force() {
  FlowProtocol::Parameters p;
  p.eager = simgrid::config::get_value<int>("smpi/send-is-detached-thresh");
  p.unasked = simgrid::config::get_value<int>("smpi/async-small-thresh");
  if (p.unasked > p.eager) {
    return Error{"smpi/async-small-thresh is larger than smpi/send-is-detached-thresh",
                 "Give at most the value of the latter."};
  }
  for (const auto& [key, cost] :
       {std::pair{"smpi/os", &p.blocking_send}, std::pair{"smpi/ois", &p.immediate_send},
        std::pair{"smpi/or", &p.receive}}) {
    auto pieces = Piecewise::parse(simgrid::config::get_value<std::string>(key));
    if (!pieces) return Error{std::string{key} + ": " + pieces.error().what, pieces.error().remedy};
    *cost = std::move(pieces).value();
  }
  return p;
}

}  // namespace nplus1::netmodel
