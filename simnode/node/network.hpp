// The network that a job asked for: an analytic model, or a platform, which can be loaded only when the
// number of ranks is known. Used by the simulator's start (main.cpp).
#pragma once

#include <functional>
#include <memory>

#include "netmodel/network_model.hpp"
#include "simnode/node/settings.hpp"
#include "support/result.hpp"

namespace nplus1::simnode::node {

using NetworkMaker = std::function<Result<std::unique_ptr<netmodel::NetworkModel>>(int ranks)>;

/// Errors: what can be known to be wrong without the number of ranks.
[[nodiscard]] Result<NetworkMaker> network_maker(const Settings& settings);

}  // namespace nplus1::simnode::node
