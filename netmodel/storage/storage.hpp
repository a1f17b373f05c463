// What is known of the storage that files lie on, beside the network: a latency, what one client can move, what all servers
// can move together, and how files are striped over the servers. What follows from it is docs/files.md's equations; who
// waits for whom is the engine's (simnode/engine/storage_queue.hpp).
//
// Plain values and pure functions; any thread. Errors of parse_storage() say what is accepted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"
#include "support/units.hpp"

namespace nplus1::netmodel {

/// Defaults: a modest parallel file system, four servers of 2.5 GB/s behind a network of 10 Gbit/s for each client.
struct StorageModel {
  double latency = 100e-6;                      // seconds, of each request
  double client = 1e9;                          // bytes per second, of one rank
  double total = 10e9;                          // of all servers together
  std::int64_t stripes = 4;                     // servers, each with an equal share of `total`
  std::int64_t stripe = std::int64_t{1} << 20;  // bytes, before the next server's turn

  /// As parse_storage() reads it: the same model.
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] Duration request_latency() const;
  /// What a client takes for `size` bytes, alone.
  [[nodiscard]] Duration client_time(Bytes size) const;
  /// What one server takes for `size` bytes of its own.
  [[nodiscard]] Duration server_time(Bytes size) const;
  /// Of the `size` bytes from `offset` on, those that lie on each server.
  void spread(std::uint64_t offset, Bytes size, std::vector<Bytes>& of_server) const;

  friend bool operator==(const StorageModel&, const StorageModel&) = default;
};

/// "latency=100us,client=1GB/s,total=10GB/s,stripes=4,stripe=1MiB"; what is left out is the default. Empty: all of it.
[[nodiscard]] Result<StorageModel> parse_storage(std::string_view specification);

}  // namespace nplus1::netmodel
