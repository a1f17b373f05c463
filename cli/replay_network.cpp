// Which network a replay runs on: the one asked for, or the recorded one.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

#include "cli/failure.hpp"
#include "cli/replay.hpp"
#include "netmodel/simgrid/load.hpp"

namespace nplus1::cli {
namespace {

constexpr std::string_view kSimgridNetwork = "simgrid:";

/// What SimgridNetwork::describe() says: "simgrid:platform=FILE,model=M,map=HOW,KEY:VALUE,...".
netmodel::PlatformFlags recorded_platform(std::string_view text) {
  netmodel::PlatformFlags flags;
  text.remove_prefix(kSimgridNetwork.size());
  const auto take = [&text](std::string_view key) {
    if (text.substr(0, key.size()) != key) return std::string{};
    const std::size_t end = std::min(text.find(',', key.size()), text.size());
    std::string value{text.substr(key.size(), end - key.size())};
    text.remove_prefix(std::min(end + 1, text.size()));
    return value;
  };
  flags.platform = take("platform=");
  flags.model = take("model=");
  flags.map = take("map=");
  flags.settings = std::string{text};
  for (char& c : flags.settings)
    if (c == ',') c = ' ';
  return flags;
}

Failure wrong_platform(const Error& error) {
  return Failure{ExitCode::kUsage, error.what, kNothingReplayed, error.remedy};
}

/// What a platform is loaded as: the flags, the ranks.
using Asked = std::tuple<std::string, std::string, std::string, std::string, std::string, int>;

Asked asked(const netmodel::PlatformFlags& flags, int ranks) {
  return {flags.platform, flags.model, flags.map, flags.settings, flags.host_speed, ranks};
}

netmodel::PlatformOptions checked(const netmodel::PlatformFlags& flags, int ranks) {
  auto options = netmodel::parse_platform_flags(flags, ranks);
  if (!options) throw wrong_platform(options.error());
  static std::set<Asked> sound;  // to find out takes longer than to load
  if (sound.contains(asked(flags, ranks))) return std::move(options).value();
  if (const auto report = netmodel::validate_platform(options.value()); !report)
    throw wrong_platform(report.error());
  sound.insert(asked(flags, ranks));
  return std::move(options).value();
}

/// The platform that share_network() has loaded into this process, or the one it was forked from.
struct Shared {
  Asked asked;
  std::shared_ptr<const netmodel::NetworkModel> network;
};
std::optional<Shared>& shared() {
  static std::optional<Shared> the_one;
  return the_one;
}

std::shared_ptr<const netmodel::NetworkModel> load(const netmodel::PlatformFlags& flags, int ranks) {
  if (shared() && shared()->asked == asked(flags, ranks)) return shared()->network;
  auto network = netmodel::load_platform(checked(flags, ranks));
  if (!network) throw wrong_platform(network.error());
  return std::move(network).value();
}

/// Changes of links become settings, so that a network names itself with them.
netmodel::PlatformFlags with_changes(netmodel::PlatformFlags flags, const netmodel::PlatformFlags& words) {
  std::istringstream links{words.links};
  for (std::string link; links >> link;) flags.settings += " link:" + link;
  if (!words.jitter.empty()) flags.settings += " jitter:" + words.jitter;
  return flags;
}

/// The platform that would be loaded, if any.
std::optional<netmodel::PlatformFlags> platform_of(const ReplayWords& words,
                                                   const hypothesis::RecordedSettings& recorded) {
  if (!words.platform.platform.empty()) return with_changes(words.platform, words.platform);
  if (words.network.empty() && recorded.network.rfind(kSimgridNetwork, 0) == 0) {
    netmodel::PlatformFlags flags = recorded_platform(recorded.network);
    if (!words.platform.map.empty()) flags.map = words.platform.map;
    return with_changes(std::move(flags), words.platform);
  }
  if (!words.platform.links.empty() || !words.platform.jitter.empty())
    throw Failure{ExitCode::kUsage, "--link and --jitter need links, and the network has none",
                  kNothingReplayed, "name a platform with --platform FILE"};
  return std::nullopt;
}

}  // namespace

void check_network(const ReplayWords& words, const hypothesis::RecordedSettings& recorded, int ranks) {
  if (const auto platform = platform_of(words, recorded))
    static_cast<void>(checked(*platform, ranks));
  else
    static_cast<void>(replay_network(words, recorded, ranks));
  if (const auto algorithms = netmodel::Selection::parse(words.collectives); !algorithms)
    throw Failure{ExitCode::kUsage, "--collectives: " + algorithms.error().what, kNothingReplayed,
                  algorithms.error().remedy};
}

void share_network(const ReplayWords& words, const hypothesis::RecordedSettings& recorded, int ranks) {
  if (const auto platform = platform_of(words, recorded))
    shared() = {asked(*platform, ranks), load(*platform, ranks)};
}

std::shared_ptr<const netmodel::NetworkModel> replay_network(const ReplayWords& words,
                                                             const hypothesis::RecordedSettings& recorded,
                                                             int ranks) {
  if (const auto platform = platform_of(words, recorded)) return load(*platform, ranks);
  const std::string& text = words.network.empty() ? recorded.network : words.network;
  auto network = netmodel::parse(text);
  if (network && (network.value()->contention_free() || network.value()->flows()))
    return std::move(network).value();
  if (!words.network.empty()) {
    const Error error =
        network ? Error{"'" + text + "' tells the protocol only", "use --platform FILE"} : network.error();
    throw Failure{ExitCode::kUsage, "--network: " + error.what, kNothingReplayed, error.remedy};
  }
  throw Failure{
      ExitCode::kNoInput,
      text.empty()
          ? std::string{"the recording does not say its network: it was cut, or comes from elsewhere"}
          : fmt::format("the recording's network is '{}', which is no specification", text),
      kNothingReplayed, "name a network with --network, or --platform"};
}

}  // namespace nplus1::cli
