#include "netmodel/storage/storage.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "netmodel/quantity.hpp"
#include "netmodel/rounding.hpp"
#include "netmodel/specification.hpp"

namespace nplus1::netmodel {
namespace {

constexpr std::int64_t kMostStripes = 65536;
constexpr double kMostStripeBytes = 1e15;
constexpr const char* kExample = "latency=100us,client=1GB/s,total=10GB/s,stripes=4,stripe=1MiB";

bool is_whole(double value, double least, double most) {
  return value >= least && value <= most && value == std::floor(value);
}

}  // namespace

std::string StorageModel::describe() const {
  return "latency=" + format_number(latency) + ",client=" + format_number(client) +
         ",total=" + format_number(total) + ",stripes=" + std::to_string(stripes) +
         ",stripe=" + std::to_string(stripe);
}

Duration StorageModel::request_latency() const {
  return rounded(latency);
}

Duration StorageModel::client_time(Bytes size) const {
  return rounded(static_cast<double>(count(size)) / client);
}

Duration StorageModel::server_time(Bytes size) const {
  return rounded(static_cast<double>(count(size)) * static_cast<double>(stripes) / total);
}

/// Whole rounds give every server a stripe; what is left begins in the middle of one and ends in the middle of another.
void StorageModel::spread(std::uint64_t offset, Bytes size, std::vector<Bytes>& of_server) const {
  const auto servers = static_cast<std::uint64_t>(stripes);
  const auto unit = static_cast<std::uint64_t>(stripe);
  const auto all = static_cast<std::uint64_t>(count(size));
  const std::uint64_t round = servers * unit;
  of_server.assign(servers, bytes(static_cast<std::int64_t>(all / round * unit)));
  std::uint64_t at = offset % round;
  for (std::uint64_t left = all % round; left > 0;) {
    const std::uint64_t piece = std::min(left, unit - at % unit);
    Bytes& of = of_server[at / unit];
    of = of + bytes(static_cast<std::int64_t>(piece));
    at = (at + piece) % round;
    left -= piece;
  }
}

Result<StorageModel> parse_storage(std::string_view specification) {
  StorageModel model;
  if (specification.empty()) return model;
  const Result<Specification> parts = parse_assignments(specification, "a storage", kExample);
  if (!parts) return parts.error();
  auto stripes = static_cast<double>(model.stripes);
  auto stripe = static_cast<double>(model.stripe);
  const std::array<Key, 5> keys{{{"latency", Quantity::kTime, &model.latency},
                                 {"client", Quantity::kBandwidth, &model.client, false},
                                 {"total", Quantity::kBandwidth, &model.total, false},
                                 {"stripes", Quantity::kSize, &stripes, false},
                                 {"stripe", Quantity::kSize, &stripe, false}}};
  if (auto error = read_keys(parts.value(), keys)) return *error;
  if (!is_whole(stripes, 1, static_cast<double>(kMostStripes)))
    return Error{"'stripes' of a storage is no whole number of servers",
                 "give one from 1 to " + std::to_string(kMostStripes) + ", as in " + kExample};
  if (!is_whole(stripe, 1, kMostStripeBytes))
    return Error{"'stripe' of a storage is no whole number of bytes",
                 std::string{"give a size up to 1e15 bytes, as in "} + kExample};
  model.stripes = static_cast<std::int64_t>(stripes);
  model.stripe = static_cast<std::int64_t>(stripe);
  return model;
}

}  // namespace nplus1::netmodel
