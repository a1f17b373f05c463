// Which network a replay runs on: the one asked for, or the recorded one.
#include <fmt/format.h>

#include <optional>
#include <sstream>
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

netmodel::PlatformOptions checked(const netmodel::PlatformFlags& flags, int ranks) {
  auto options = netmodel::parse_platform_flags(flags, ranks);
  if (!options) throw wrong_platform(options.error());
  if (const auto sound = netmodel::validate_platform(options.value()); !sound)
    throw wrong_platform(sound.error());
  return std::move(options).value();
}

std::unique_ptr<netmodel::NetworkModel> load(const netmodel::PlatformFlags& flags, int ranks) {
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

std::unique_ptr<netmodel::NetworkModel> replay_network(const ReplayWords& words,
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
