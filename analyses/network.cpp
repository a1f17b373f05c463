// Which network a replay runs on: the one asked for, or the recorded one.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

#include "analyses/replay.hpp"
#include "netmodel/simgrid/load.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
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

/// What a platform is loaded as: the flags, the ranks.
using Asked = std::tuple<std::string, std::string, std::string, std::string, std::string, int>;

Asked asked(const netmodel::PlatformFlags& flags, int ranks) {
  return {flags.platform, flags.model, flags.map, flags.settings, flags.host_speed, ranks};
}

netmodel::PlatformOptions parsed(const netmodel::PlatformFlags& flags, int ranks) {
  return need(netmodel::parse_platform_flags(flags, ranks), Fault::kUsage);
}

netmodel::PlatformOptions checked(const netmodel::PlatformFlags& flags, int ranks) {
  auto options = parsed(flags, ranks);
  static std::set<Asked> sound;  // to find out takes longer than to load
  if (sound.contains(asked(flags, ranks))) return options;
  need(netmodel::validate_platform(options), Fault::kUsage);
  sound.insert(asked(flags, ranks));
  return options;
}

/// The platform that share_network() has loaded into this process, or the one it was forked from.
struct Shared {
  netmodel::PlatformFlags flags;
  int ranks;
  std::shared_ptr<const netmodel::NetworkModel> network;
};
std::optional<Shared>& shared() {
  static std::optional<Shared> the_one;
  return the_one;
}

std::shared_ptr<const netmodel::NetworkModel> load(const netmodel::PlatformFlags& flags, int ranks) {
  if (shared() && asked(shared()->flags, shared()->ranks) == asked(flags, ranks)) return shared()->network;
  auto network = netmodel::load_platform(checked(flags, ranks));
  return need(std::move(network), Fault::kUsage);
}

/// Changes of links become settings, so that a network names itself with them.
netmodel::PlatformFlags with_changes(netmodel::PlatformFlags flags,
                                     const netmodel::PlatformFlags& asked_for) {
  std::istringstream links{asked_for.links};
  for (std::string link; links >> link;) flags.settings += " link:" + link;
  if (!asked_for.jitter.empty()) flags.settings += " jitter:" + asked_for.jitter;
  return flags;
}

/// The platform that would be loaded, if any.
std::optional<netmodel::PlatformFlags> platform_of(const ReplaySettings& settings,
                                                   const hypothesis::RecordedSettings& recorded) {
  if (!settings.platform.platform.empty()) return with_changes(settings.platform, settings.platform);
  if (settings.network.empty() && recorded.network.rfind(kSimgridNetwork, 0) == 0) {
    netmodel::PlatformFlags flags = recorded_platform(recorded.network);
    if (!settings.platform.map.empty()) flags.map = settings.platform.map;
    return with_changes(std::move(flags), settings.platform);
  }
  if (!settings.platform.links.empty() || !settings.platform.jitter.empty())
    throw Stopped{{"--link and --jitter need links, and the network has none",
                   "name a platform with --platform FILE", Fault::kUsage}};
  return std::nullopt;
}

}  // namespace

void check_network(const ReplaySettings& settings, const hypothesis::RecordedSettings& recorded, int ranks) {
  if (const auto platform = platform_of(settings, recorded))
    static_cast<void>(checked(*platform, ranks));
  else
    static_cast<void>(replay_network(settings, recorded, ranks));
  static_cast<void>(replay_storage(settings, recorded));
  if (const auto algorithms = netmodel::Selection::parse(settings.collectives); !algorithms)
    throw Stopped{{"--collectives: " + algorithms.error().what, algorithms.error().remedy, Fault::kUsage}};
}

netmodel::StorageModel replay_storage(const ReplaySettings& settings,
                                      const hypothesis::RecordedSettings& recorded) {
  if (settings.storage.empty()) {
    auto storage = netmodel::parse_storage(recorded.storage);
    if (storage) return storage.value();
    throw Stopped{
        {fmt::format("the recording's storage is '{}', which is no specification", recorded.storage),
         "name one with --storage", Fault::kInput}};
  }
  auto storage = netmodel::parse_storage(settings.storage);
  if (storage) return storage.value();
  throw Stopped{{"--storage: " + storage.error().what, storage.error().remedy, Fault::kUsage}};
}

void share_network(const ReplaySettings& settings, const hypothesis::RecordedSettings& recorded, int ranks) {
  if (const auto platform = platform_of(settings, recorded))
    shared() = {*platform, ranks, load(*platform, ranks)};
}

void place_shared_network(const std::string& map) {
  Shared& here = shared().value();
  here.flags.map = map;
  here.network = need(netmodel::load_platform(parsed(here.flags, here.ranks)), Fault::kUsage);
}

std::shared_ptr<const netmodel::NetworkModel> replay_network(const ReplaySettings& settings,
                                                             const hypothesis::RecordedSettings& recorded,
                                                             int ranks) {
  if (const auto platform = platform_of(settings, recorded)) return load(*platform, ranks);
  const std::string& text = settings.network.empty() ? recorded.network : settings.network;
  auto network = netmodel::parse(text);
  if (network && (network.value()->contention_free() || network.value()->flows()))
    return std::move(network).value();
  if (!settings.network.empty()) {
    const Error error =
        network ? Error{"'" + text + "' tells the protocol only", "use --platform FILE"} : network.error();
    throw Stopped{{"--network: " + error.what, error.remedy, Fault::kUsage}};
  }
  if (text.empty() && recorded.native)
    throw Stopped{{"the program was recorded natively: on no network that could be simulated",
                   "name the network to replay it on with --network, or --platform", Fault::kInput}};
  throw Stopped{
      {text.empty()
           ? std::string{"the recording does not say its network: it was cut, or comes from elsewhere"}
           : fmt::format("the recording's network is '{}', which is no specification", text),
       "name a network with --network, or --platform", Fault::kInput}};
}

}  // namespace nplus1::analyses
