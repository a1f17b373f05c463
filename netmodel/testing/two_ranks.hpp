// Two ranks, and the network between them from its specification.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <utility>

#include "netmodel/network_model.hpp"

namespace nplus1::netmodel {

inline constexpr RankId kA{0};
inline constexpr RankId kB{1};

inline std::unique_ptr<NetworkModel> network(std::string_view specification) {
  auto model = parse(specification);
  EXPECT_TRUE(model.ok()) << specification;
  return std::move(model).value();
}

}  // namespace nplus1::netmodel
