// Which network a replay runs on: the one asked for, or the recorded one.
#include <fmt/format.h>

#include <utility>

#include "cli/failure.hpp"
#include "cli/replay.hpp"
#include "netmodel/simgrid/load.hpp"

namespace nplus1::cli {
namespace {

constexpr std::string_view kSimgrid = "simgrid:";

/// What SimgridNetwork::describe() says: "simgrid:platform=FILE,model=M,map=HOW,KEY:VALUE,...".
netmodel::PlatformFlags recorded_platform(std::string_view text) {
  netmodel::PlatformFlags flags;
  text.remove_prefix(kSimgrid.size());
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

std::unique_ptr<netmodel::NetworkModel> load(const netmodel::PlatformFlags& flags, int ranks) {
  const auto fail = [](const Error& error) {
    return Failure{ExitCode::kUsage, error.what, kNothingReplayed, error.remedy};
  };
  const auto options = netmodel::parse_platform_flags(flags, ranks);
  if (!options) throw fail(options.error());
  if (const auto sound = netmodel::validate_platform(options.value()); !sound) throw fail(sound.error());
  auto network = netmodel::load_platform(options.value());
  if (!network) throw fail(network.error());
  return std::move(network).value();
}

}  // namespace

std::unique_ptr<netmodel::NetworkModel> replay_network(const ReplayWords& words,
                                                       const hypothesis::RecordedSettings& recorded,
                                                       int ranks) {
  if (!words.platform.platform.empty()) return load(words.platform, ranks);
  const std::string& text = words.network.empty() ? recorded.network : words.network;
  if (words.network.empty() && text.rfind(kSimgrid, 0) == 0) return load(recorded_platform(text), ranks);
  auto network = netmodel::parse(text);
  if (network && (network.value()->contention_free() || network.value()->flows()))
    return std::move(network).value();
  if (!words.network.empty()) {
    const Error error =
        network ? Error{"'" + text + "' tells the protocol only", "use --platform FILE"} : network.error();
    throw Failure{ExitCode::kUsage, "--network: " + error.what, kNothingReplayed, error.remedy};
  }
  throw Failure{ExitCode::kNoInput,
                fmt::format("the recording's network is '{}', which is no specification", text),
                kNothingReplayed, "name a network with --network, or --platform"};
}

}  // namespace nplus1::cli
