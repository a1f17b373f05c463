// From the events of single ranks to events that mean the same everywhere: communicators get global numbers,
// call sites and regions get their texts. Feeds the engine; definitions go to the sinks directly.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/event.hpp"
#include "simnode/engine/engine.hpp"

namespace nplus1::simnode::node {

class Translator {
 public:
  Translator(int ranks, engine::Engine& engine) : engine_{engine}, ranks_(static_cast<std::size_t>(ranks)) {}

  /// The next event of `rank`; definitions are told to `sink` when they are new.
  void take(RankId rank, events::Event event, std::span<const std::byte> extension, events::EventSink& sink);
  /// "MODULE+0xOFFSET", empty if unknown.
  [[nodiscard]] std::string site(RankId rank, CallSiteId site) const;
  [[nodiscard]] std::size_t members(CommId comm) const { return comm_sizes_.at(comm.index()); }

 private:
  struct Rank {
    std::unordered_map<std::uint32_t, CommId> comms;
    std::unordered_map<std::uint32_t, std::string> sites;
    std::unordered_map<std::uint64_t, std::string> regions;
  };
  void define_comm(RankId rank, events::Event& event, const events::Extension& extension,
                   events::EventSink& sink);

  engine::Engine& engine_;
  std::vector<Rank> ranks_;
  std::unordered_map<std::uint64_t, CommId> comm_of_key_;
  std::vector<std::size_t> comm_sizes_;
};

}  // namespace nplus1::simnode::node
