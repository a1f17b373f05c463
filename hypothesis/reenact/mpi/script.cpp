#include "hypothesis/reenact/mpi/script.hpp"

#include <algorithm>
#include <unordered_map>

#include "events/limits.hpp"
#include "events/recording/reader.hpp"
#include "hypothesis/recorded/decisions.hpp"
#include "hypothesis/transform/chain.hpp"

namespace nplus1::hypothesis::reenact {
namespace {

using events::Event;
using events::EventKind;
using events::recording::Reader;

Duration scaled(Duration compute, double scale) {
  return events::rounded_within(static_cast<double>(compute.count()) * scale);
}

/// Collects the calls of one rank in the order of its process.
class Collector final : public events::EventSink {
 public:
  Collector(RankId rank, const ScriptOptions& options, Script& script)
      : rank_{rank}, options_{options}, script_{script} {}

  void on_event(const events::TimedEvent& recorded) override {
    if (recorded.rank != rank_) return;
    threads_ = std::max<std::size_t>(threads_, recorded.event.thread.index() + 1);
    RecordedCall call;
    call.assign(recorded);
    call.detail.reset();
    if (options_.deterministic) repeat(recorded, call);
    call.event.compute_ps = pause_before(recorded).count();
    ordered_ = ordered_ && (ordinals_.empty() || recorded.ordinal > ordinals_.back());
    ordinals_.push_back(recorded.ordinal);
    script_.calls.push_back(std::move(call));
  }
  void on_match(RankId receiver, const events::Answer& match) override {
    if (receiver == rank_ && options_.deterministic) matches_[match.request.value] = match;
  }
  void on_communicator(const events::Communicator& c) override { script_.communicators[c.id.value] = c; }

  [[nodiscard]] std::size_t threads() const { return threads_; }

  void finish() {
    if (!ordered_) sort();
    for (RecordedCall& call : script_.calls) {
      if (!awaits_match(call.event)) continue;
      const auto match = matches_.find(call.event.request.value);
      if (match == matches_.end()) continue;
      call.event.peer = match->second.source;
      call.event.tag = match->second.tag;
    }
  }

 private:
  void repeat(const events::TimedEvent& recorded, RecordedCall& call) {
    events::Extension lists = recorded.extension;
    repeat_decision(recorded, call.event, lists, words_);
    call.words.assign(lists.words.begin(), lists.words.end());
  }

  /// What a call that is not modelled took is waited for, but does not scale.
  Duration pause_before(const events::TimedEvent& recorded) {
    const Event& event = recorded.event;
    Duration pause = scaled(event.compute(), options_.compute_scale);
    if (event.kind == EventKind::kUnmodelledExit) {
      pause = std::max(Duration{}, event.entry() - last_exit_);
      script_.unmodelled += pause;
      ++script_.unmodelled_calls;
    }
    const bool not_made = event.kind == EventKind::kOneSided || event.kind == EventKind::kWindowSync ||
                          event.kind == EventKind::kFileAccess;
    if (not_made && recorded.exit != events::kUnfinished) {
      pause += recorded.exit - event.entry();  // neither are windows made again nor files
      script_.unmodelled += recorded.exit - event.entry();
      ++script_.unmodelled_calls;
    }
    if (recorded.exit != events::kUnfinished) {
      script_.longest = std::max({script_.longest, recorded.exit - event.entry(), pause});
      last_exit_ = recorded.exit;
      script_.recorded_end = std::max(script_.recorded_end, recorded.exit.time_since_epoch());
    }
    return pause;
  }

  void sort() {
    std::vector<std::size_t> order(ordinals_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t a, std::size_t b) { return ordinals_[a] < ordinals_[b]; });
    std::vector<RecordedCall> calls;
    for (const std::size_t i : order) calls.push_back(std::move(script_.calls[i]));
    script_.calls = std::move(calls);
  }

  RankId rank_;
  const ScriptOptions& options_;
  Script& script_;
  std::vector<std::uint64_t> ordinals_;
  std::vector<std::uint32_t> words_;
  std::unordered_map<std::uint32_t, events::Answer> matches_;
  Time last_exit_{};
  std::size_t threads_ = 0;
  bool ordered_ = true;
};

/// For the surveys of transformations: everybody's calls.
transform::Play play(Reader& reader) {
  return [&reader](events::EventSink& sink, bool definitions_only) -> Result<transform::Done> {
    events::recording::Selection selection;
    selection.events = !definitions_only;
    const auto coverage = reader.read(sink, selection);
    if (!coverage) return coverage.error();
    return transform::Done{};
  };
}

}  // namespace

Result<int> recorded_ranks(const std::filesystem::path& recording) {
  const auto reader = Reader::open(recording);
  if (!reader) return reader.error();
  return static_cast<int>(reader.value().header().ranks);
}

Result<Script> read_script(const ScriptOptions& options, RankId rank) {
  auto reader = Reader::open(options.recording);
  if (!reader) return reader.error();
  auto chain = transform::Chain::build(options.steps, play(reader.value()));
  if (!chain) return chain.error();
  Script script;
  Collector collector{rank, options, script};
  const auto coverage = reader.value().read(chain.value().begin(collector), {true, rank, rank});
  if (!coverage) return coverage.error();
  chain.value().finish();
  if (collector.threads() > 1)
    return Error{"rank " + std::to_string(rank.value) + " calls MPI from several threads",
                 "nplus1 replay without --reenact simulates them"};
  collector.finish();
  script.complete = coverage.value().complete;
  return script;
}

}  // namespace nplus1::hypothesis::reenact
