// From the events of single ranks to events that mean the same everywhere: communicators, call paths, regions
// and datatypes get global numbers. Feeds the engine; definitions go to the sink directly, each once.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/event.hpp"
#include "events/sink.hpp"
#include "simnode/engine/engine.hpp"

namespace nplus1::simnode::node {

class Translator {
 public:
  Translator(int ranks, engine::Engine& engine) : engine_{engine}, ranks_(static_cast<std::size_t>(ranks)) {}

  /// The next event of `rank`: a definition, told to `sink` when it is new (false), or a call (true), whose
  /// ids are then the global ones. `extension`: what followed it, without its Detail.
  bool take(RankId rank, events::Event& event, std::span<const std::byte> extension, events::EventSink& sink);
  /// The lists in `extension`, which follow `event`.
  [[nodiscard]] static events::Extension lists(const events::Event& event,
                                               std::span<const std::byte> extension);
  /// Passes a call on to the engine.
  void push(RankId rank, const events::Event& event, std::span<const std::byte> extension);
  /// The global number of a datatype of `rank`.
  [[nodiscard]] DatatypeId datatype(RankId rank, DatatypeId own) const;
  /// Call paths by their global numbers, 0 unknown; and a rank that has been there.
  [[nodiscard]] const events::CallPath& call_path(CallSiteId site) const { return paths_[site.index()]; }
  [[nodiscard]] std::size_t call_paths() const { return paths_.size(); }
  /// Regions whose names are addresses (MODULE+0xOFFSET), to be resolved after the run.
  [[nodiscard]] const std::vector<events::Region>& address_regions() const { return address_regions_; }

 private:
  /// Own numbers to global ones. Ranks number densely, from 0 or 1.
  using Numbers = std::vector<std::uint32_t>;
  struct Rank {
    std::unordered_map<std::uint32_t, CommId> comms;
    Numbers sites;
    Numbers regions;
    Numbers datatypes;
    std::int64_t computed_ps = 0;  // by all its threads
  };
  void check_amounts(Rank& rank, const events::Event& event, const events::Extension& lists);
  void add_bytes(std::int64_t size);
  void define_comm(RankId rank, events::Event& event, const events::Extension& extension,
                   events::EventSink& sink);
  void forget_comm(RankId rank, const events::Event& event);
  void define_path(RankId rank, const events::Event& event, const std::string& text, events::EventSink& sink);
  void define_region(RankId rank, const events::Event& event, const std::string& text,
                     events::EventSink& sink);
  void define_datatype(RankId rank, const events::Event& event, const std::string& text,
                       events::EventSink& sink);

  engine::Engine& engine_;
  std::vector<Rank> ranks_;
  std::int64_t bytes_ = 0;  // of all messages and collectives
  std::unordered_map<std::uint64_t, CommId> comm_of_key_;
  std::uint32_t comms_ = 0;                               // that ever were
  std::unordered_map<CommId, std::size_t> members_left_;  // that have not freed it
  std::unordered_map<std::string, std::uint32_t> path_of_text_;
  std::vector<events::CallPath> paths_{1};
  std::unordered_map<std::string, std::uint32_t> region_of_name_;
  std::vector<events::Region> address_regions_;
  std::unordered_map<std::string, std::uint32_t> datatype_of_text_;
};

}  // namespace nplus1::simnode::node
