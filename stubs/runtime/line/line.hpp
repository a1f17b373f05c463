// The line to the simulator: events out, answers in, a place to sleep; and the doorbells of other ranks on its segment.
// With the runtime's lock held, but for what waits: prepare_sleep(), sleep(), awake(), may_wait_awake(), end_together(),
// block() and nudge(), which any thread may call. Nothing fails: once the line is cut, what is written goes nowhere.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "events/event.hpp"
#include "stubs/runtime/communicators/communicators.hpp"
#include "stubs/transport/channel.hpp"
#include "stubs/transport/segment.hpp"
#include "support/ids.hpp"

namespace nplus1::stubs {

class Line {
 public:
  /// `segment`: shared with the simulator; null over TCP. `native`: who writes down what happened is in no hurry.
  void open(std::unique_ptr<transport::Channel> channel, transport::Segment segment, RankId me, bool native);

  void write(const events::Event& event, const void* extension, const events::Detail* detail = nullptr);
  /// With the text as its extension.
  void write_text(events::Event event, const std::string& text);
  /// Tells of it, and, with the next one that is defined, that this rank uses it no more: the events of the call in which its
  /// last request ends may still name it.
  void define(Communicator& comm);
  /// The region's number; tells of it at first. `is_address`: the name is MODULE+0xOFFSET, to be resolved after the run.
  std::uint64_t region_id(const std::string& name, bool is_address = false);
  /// The place that the next event will have in this rank's stream.
  [[nodiscard]] std::uint64_t next_ordinal() const { return next_ordinal_; }
  /// Makes the simulator look at what was written.
  void ring() {
    if (!native_ || !segment_) channel_->ring();  // over TCP nothing is sent without
  }

  /// How often that has written something.
  [[nodiscard]] std::uint64_t wakes() const { return channel_->wakes(); }

  /// The next answer that has come whole, with its extension. False if there is none.
  bool read(events::Answer& answer, std::vector<std::uint32_t>& words);
  /// An answer announced more than any has: nothing that follows can be believed.
  [[nodiscard]] bool spoilt() const { return spoilt_; }

  /// Nothing is written from here on.
  void cut() { cut_ = true; }
  [[nodiscard]] bool is_cut() const { return cut_; }
  /// The rank goes on without the simulator, which is told so.
  void leave() { channel_->leave(); }
  /// The same where the rank cannot go on being observed: the simulation ends.
  void tell_of_giving_up();
  [[nodiscard]] bool simulator_gone() { return channel_->simulator_gone(); }
  /// The process ends without MPI_Finalize: whether all ranks do so within that time.
  [[nodiscard]] bool end_together(int milliseconds) {
    channel_->ring();
    return channel_->end_together(milliseconds);
  }

  [[nodiscard]] std::uint32_t prepare_sleep() { return channel_->prepare_sleep(); }
  void sleep(std::uint32_t ticket, std::int64_t nanoseconds) { channel_->sleep(ticket, nanoseconds); }
  void awake() { channel_->awake(); }

  /// Rings `source`, which may have to push a long message.
  void nudge(RankId source);
  /// Rings the members that sleep on the simulator's answer: MPI may need them to push a collective.
  void nudge(const Communicator& comm);
  /// Counts this rank's arrival at the next collective on `comm`; true if all members have arrived (or it is not known):
  /// only then is there something for the simulator to answer.
  bool last_to_arrive(Communicator& comm);
  /// What the simulator sees of the rank; null over TCP.
  [[nodiscard]] transport::RankBlock* block() { return channel_->block(); }
  /// Instead of sleeping, for a moment: the host has so many cores. Not over TCP.
  [[nodiscard]] bool may_wait_awake(int cores) const { return segment_ && segment_.may_wait_awake(cores); }
  /// Of the twins that measure now on this host; none over TCP.
  [[nodiscard]] std::span<std::atomic<std::int64_t>> twins_until() const {
    return segment_ ? std::span{segment_.header().twins_until} : std::span<std::atomic<std::int64_t>>{};
  }
  /// Null over TCP.
  [[nodiscard]] transport::Quiet* quiet() const { return segment_ ? &segment_.header().quiet : nullptr; }
  /// Over TCP: what is told of looks in vain instead.
  void tell_looks(std::uint32_t looks, std::uint32_t moves);

 private:
  bool take_slot(const transport::Slot& slot);
  void tell_of_departures();

  std::unique_ptr<transport::Channel> channel_;
  transport::Segment segment_;
  RankId me_{};
  bool native_ = false;
  bool cut_ = false;
  bool spoilt_ = false;
  std::uint64_t next_ordinal_ = 0;
  events::Answer pending_{};  // answer whose extension is still coming
  std::uint32_t pending_slots_ = 0;
  std::vector<std::uint32_t> pending_words_;
  std::unordered_map<std::string, std::uint64_t> regions_;
  std::shared_ptr<Departures> departures_ = std::make_shared<Departures>();
};

}  // namespace nplus1::stubs
