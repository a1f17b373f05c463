#include "simnode/node/simulation.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "events/clock_question.hpp"
#include "stubs/transport/channel.hpp"

namespace nplus1::simnode::node {
namespace {

constexpr std::size_t kSlotsPerTurn = transport::kEventSlots;

engine::Options options_of(const Settings& settings, const netmodel::Selection& collectives) {
  engine::Options options;
  options.poll_cost = settings.poll_cost;
  options.storage = settings.storage;
  options.watch_links = settings.record != Record::kOff;
  options.look_ahead = true;
  options.collectives = &collectives;
  options.report_all_matches = settings.record != Record::kOff;
  return options;
}

/// Counted instructions may come to less than the CPU time that passes.
Watch::Clock watched_clock(const Settings& settings, const JobRanks& ranks) {
  Watch::Clock clock;
  clock.measured =
      settings.compute_times.mode == semantics::ComputeMode::kMeasured && settings.clock != "instructions";
  clock.scale = settings.compute_times.scale;
  clock.wall = uses_wall_clock(settings, ranks);
  return clock;
}

const char* what_it_does(Watch::Place place) {
  switch (place) {
    case Watch::Place::kApplication:
      return "computed";
    case Watch::Place::kMpiCall:
      return "been in an MPI call";
    case Watch::Place::kNativeWait:
      return "waited for other ranks inside the MPI library";
    case Watch::Place::kUnknown:
      return "said nothing";
  }
  return "";
}

}  // namespace

Simulation::Simulation(const Settings& settings, const netmodel::NetworkModel& network,
                       const netmodel::Selection& collectives, JobRanks& ranks, RunRecording& recording,
                       RankAccounts& accounts, std::vector<std::string>& notes)
    : settings_{settings},
      ranks_{ranks},
      recording_{recording},
      notes_{notes},
      contention_{!network.contention_free()},
      test_delay_{settings.test_delay},
      engine_{static_cast<int>(ranks.size()), network, *this, options_of(settings, collectives)},
      translator_{static_cast<int>(ranks.size()), engine_},
      observers_{ranks.size(), &network, &collectives},
      watch_{static_cast<int>(ranks.size()), watched_clock(settings, ranks)},
      deadlocks_{settings, ranks, engine_, translator_, source_lines_, notes},
      begin_{std::chrono::steady_clock::now()} {
  observers_.add_to(sinks_);
  observers_.add_to(definitions_);
  if (recording.is_on()) {
    definitions_.add(*recording.writer());
    if (!settings.native) recording.wait_for_the_engine(ranks.size(), sinks_);
  }
  if (settings.native) native_.emplace(ranks.size(), sinks_, recording.writer());
  intake_.emplace(ranks, accounts, translator_, definitions_, recording.recorder(),
                  native_ ? &*native_ : nullptr);
  for (const JobRank& rank : ranks)
    watch_.add(ranks.id_of(rank), rank.pid, rank.port->block(), rank.several_threads(),
               network.compute_scale(ranks.id_of(rank)));
}

template <class What>
void Simulation::simulate(What&& what) {
  if (native_ || abandoned_) return;
  try {
    what();
  } catch (const std::exception& error) {
    abandon(error.what());
  }
}

std::size_t Simulation::drain() {
  std::size_t slots = 0;
  for (const JobRank& rank : ranks_) {
    if (!rank.port || rank.gone) continue;
    const RankId id = ranks_.id_of(rank);
    try {
      slots += drain(id);
    } catch (const std::exception& error) {
      abandon(fmt::format("rank {}: {}", id.value, error.what()));
    }
  }
  return slots;
}

std::size_t Simulation::drain(RankId rank) {
  Port& port = *ranks_[rank].port;
  return port.read(kSlotsPerTurn, [this, rank, &port](const transport::Slot& slot) {
    if (!port.assembler.take(slot)) return;
    test_delay_.pause();
    if (intake_->take(rank, port)) return;
    notes_.push_back(
        fmt::format("rank {} could no longer be observed: its own message on stderr says why; all that came "
                    "later is unknown",
                    rank.value));
    lost_sight_ = true;
  });
}

void Simulation::decide() {
  simulate([this] {
    engine_.decide();
    watch_.follow(engine_);
  });
}

void Simulation::observe() {
  simulate([this] {
    watch();
    deadlocks_.look();
  });
}

void Simulation::watch() {
  watch_.look(engine_);
  const auto rank = watch_.long_awaited();
  if (!rank) return;
  const auto blocked = engine_.blocked();
  if (blocked.empty()) return;
  ranks_.send_text(blocked.front().rank, events::AnswerKind::kNotice, true,
                   "nplus1: rank " + std::to_string(rank->value) + " has " +
                       what_it_does(watch_.place(*rank)) +
                       " for 10 s while others wait for its next MPI call; still running\n");
}

bool Simulation::somebody_waits() const {
  // With contention something is nearly always to be decided, and mostly nobody sleeps until it is.
  if (contention_) return ranks_.somebody_asks();
  return engine_.state() == engine::State::kWaiting || engine_.somebody_asks();
}

void Simulation::lose(RankId rank) {
  ranks_.let_go(ranks_[rank]);
  ranks_[rank].asked = 0;
  engine_.rank_gone(rank);
  note_time();
}

void Simulation::note_time() {
  wall_time_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void Simulation::abandon(const std::string& why) {
  if (abandoned_) return;
  abandoned_ = true;
  notes_.push_back(
      fmt::format("the simulation ended early ({}); the program went on without it, and the results show "
                  "what was seen until then",
                  why));
  ranks_.let_all_go();
  note_time();
}

void Simulation::finish() {
  if (native_)
    native_->finish(notes_);
  else
    decide();
}

void Simulation::tell_names() {
  if (engine::Recorder* recorder = recording_.recorder()) recorder->finish();
  if (settings_.record != Record::kOff) tell_source_lines();
}

/// Call paths and functions get their names: the programs are still there, and only what was seen is looked
/// up.
void Simulation::tell_source_lines() {
  for (std::size_t i = 1; i < translator_.call_paths(); ++i)
    definitions_.on_call_path(
        source_lines_.resolve(translator_.call_path(CallSiteId{static_cast<std::uint32_t>(i)})));
  for (const events::Region& region : translator_.address_regions())
    definitions_.on_region({region.id, source_lines_.function_at(region.name)});
}

void Simulation::on_exit(const events::TimedEvent& event) {
  const bool asked = event.event.has(events::kNeedsAnswer);
  if (asked) {
    --ranks_[event.rank].asked;
    ranks_.send(event.rank, event.answer, std::as_bytes(event.completed));
  }
  if (events::is_clock_question(event.event)) return;
  if (engine::Recorder* recorder = recording_.recorder())
    recorder->exited(event);
  else
    sinks_.on_event(event);
}

void Simulation::on_match(RankId receiver, const events::Answer& answer) {
  sinks_.on_match(receiver, answer);
  if (engine::Recorder* recorder = recording_.recorder()) recorder->matched(receiver, answer);
  if (answer.flag != 0) ranks_.send(receiver, answer, {});
}

void Simulation::on_meeting(RankId receiver, const events::Answer& answer) {
  ranks_.send(receiver, answer, {});
}

}  // namespace nplus1::simnode::node
