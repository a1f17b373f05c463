// What the engine knows of the storage: requests that have not been taken yet, and until when each server and each client
// is busy. The equations are in docs/files.md; files.cpp brings requests here and says when the next one stands.
//
// Private to the engine. Memory per server, per rank that has asked, per request not taken.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "netmodel/storage/storage.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

/// One call's request.
struct StorageRequest {
  Time at{};  // when it is made
  RankId rank{};
  ThreadId thread{};
  std::uint64_t number = 0;  // of all requests, as they came: one thread's are in its order
  std::uint64_t token = 0;   // of what waits for it
  std::uint64_t offset = 0;
  Bytes size{};
  bool is_turn = false;  // takes no time
  /// Among those of one time: by rank, so that the order is not the machine's.
  [[nodiscard]] bool operator<(const StorageRequest& other) const {
    return std::tuple{at, rank, thread, number} <
           std::tuple{other.at, other.rank, other.thread, other.number};
  }
};

class StorageQueue {
 public:
  explicit StorageQueue(const netmodel::StorageModel& model) : model_{model} {}

  struct Served {
    Time end{};
    Duration waited{};  // longer than it would have taken alone
  };

  void ask(StorageRequest request) {
    request.number = numbers_++;
    waiting_.insert(request);
  }
  [[nodiscard]] Time next_due() const { return waiting_.empty() ? kNever : waiting_.begin()->at; }
  StorageRequest take() { return waiting_.extract(waiting_.begin()).value(); }

  /// Requests are served in the order of these calls: by each server, and for each client.
  Served serve(const StorageRequest& request) {
    if (request.is_turn) return {request.at, {}};
    Time busy = request.at;
    Duration alone{};
    const auto use = [&](Time& free, Duration takes) {
      free = std::min(std::max(free, request.at) + takes, kNoClockComesHere);
      busy = std::max(busy, free);
      alone = std::max(alone, takes);
    };
    if (request.size > Bytes{}) {
      if (servers_.empty()) servers_.resize(static_cast<std::size_t>(model_.stripes));
      use(clients_[request.rank], model_.client_time(request.size));
      model_.spread(request.offset, request.size, of_server_);
      for (std::size_t server = 0; server < servers_.size(); ++server)
        if (of_server_[server] > Bytes{}) use(servers_[server], model_.server_time(of_server_[server]));
    }
    return {busy + model_.request_latency(), busy - request.at - alone};
  }

  /// Requests that are made when the members of the file's communicator have met, by rank and token.
  void await_meeting(RankId rank, std::uint64_t token, const StorageRequest& request) {
    meeting_[{rank, token}] = request;
  }
  [[nodiscard]] bool nobody_meets() const { return meeting_.empty(); }
  /// False: there is none.
  bool met(RankId rank, std::uint64_t token, Time at) {
    const auto found = meeting_.find({rank, token});
    if (found == meeting_.end()) return false;
    StorageRequest request = found->second;
    meeting_.erase(found);
    request.at = at;
    ask(request);
    return true;
  }
  [[nodiscard]] bool meets(RankId rank, std::uint64_t token) const {
    return meeting_.count({rank, token}) != 0;
  }

 private:
  /// Of what would end later, adding up ends; who waits for it is rejected as all calls beyond the end of time are.
  static constexpr Time kNoClockComesHere{Duration{std::int64_t{1} << 62U}};

  netmodel::StorageModel model_;
  std::set<StorageRequest> waiting_;
  std::map<std::pair<RankId, std::uint64_t>, StorageRequest> meeting_;
  std::map<RankId, Time> clients_;  // until when each is busy
  std::vector<Time> servers_;
  std::vector<Bytes> of_server_;  // scratch
  std::uint64_t numbers_ = 0;
};

}  // namespace nplus1::simnode::engine
