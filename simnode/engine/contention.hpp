// The transfers of a network with contention: each is a flow whose end is known only when virtual time has
// come that far. Point-to-point messages and the messages of collectives share this table, and so they
// share the links. Private to the engine.
#pragma once

#include <memory>
#include <vector>

#include "netmodel/flows.hpp"
#include "semantics/mailbox.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

/// A message of a collective that is under way, by its call and its members.
struct CollectiveMessage {
  std::uint32_t comm = 0;
  std::uint64_t call = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;
  Bytes size{};
  bool rendezvous = false;  // its sender waits too
  bool unasked = false;     // it left before its receive was posted
  bool combined = false;    // by the network: Transport::kCombined
  std::uint32_t site = 0;   // its sender's call
};

/// One flow, and who waits for its end.
struct Transfer {
  enum class State : std::uint8_t { kFree, kUnderWay, kArrived };

  State state = State::kFree;
  bool collective = false;
  bool matched = false;  // `receive` is known (a message may travel before its receive is posted)
  RankId receiver{};
  semantics::Message message{};
  semantics::Receive receive{};
  CollectiveMessage part{};
  std::uint32_t leg = 0;  // of one-sided communication, by its place in Windows; 0: none
  Time at{};              // kArrived: when
  Duration held_up{};     // kArrived: by others on its links
};

class Contention {
 public:
  using Id = netmodel::Flows::FlowId;

  explicit Contention(std::unique_ptr<netmodel::Flows> flows) : flows_{std::move(flows)} {}

  /// Starts the flow of `transfer` at `at`, or now if that has passed.
  Id start(const Transfer& transfer, RankId source, RankId destination, Bytes size, Time at) {
    if (at < flows_->now()) ++late_;
    if (free_.empty()) {
      free_.push_back(static_cast<Id>(table_.size()));
      table_.emplace_back();
    }
    const Id id = free_.back();
    free_.pop_back();
    table_[id] = transfer;
    table_[id].state = Transfer::State::kUnderWay;
    flows_->start(id, source, destination, size, at,
                  transfer.collective ? transfer.part.site : transfer.message.site);
    return id;
  }
  [[nodiscard]] Transfer& operator[](Id id) { return table_[id]; }
  void release(Id id) {
    table_[id].state = Transfer::State::kFree;
    free_.push_back(id);
  }
  /// The flows that complete next, if that is not after `until`.
  const std::vector<netmodel::Flows::Completion>& advance(Time until) {
    completions_.clear();
    if (!flows_->idle() || until == kNever) flows_->advance(until, completions_);
    return completions_;
  }
  [[nodiscard]] netmodel::Flows& flows() { return *flows_; }
  [[nodiscard]] bool idle() const { return flows_->idle(); }
  /// Flows that should have started before the time that others had already passed.
  [[nodiscard]] std::uint64_t late() const { return late_; }

 private:
  std::unique_ptr<netmodel::Flows> flows_;
  std::vector<Transfer> table_;
  std::vector<Id> free_;
  std::vector<netmodel::Flows::Completion> completions_;
  std::uint64_t late_ = 0;
};

}  // namespace nplus1::simnode::engine
