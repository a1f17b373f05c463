// A recording whose bytes are all sound, with claims of the fuzzer's, under hypotheses of the fuzzer's: one to three
// transformations of it, replayed, with the times of a run on an ideal network and the count of collective calls.
#include <array>
#include <filesystem>
#include <utility>

#include "events/recording/reader.hpp"
#include "events/recording/testing/scratch_folder.hpp"
#include "events/sink_list.hpp"
#include "guidelines/application.hpp"
#include "hypothesis/replay/replay.hpp"
#include "hypothesis/waitstates/efficiencies.hpp"
#include "hypothesis/waitstates/search.hpp"
#include "tests/fuzz/claimed_recording.hpp"

namespace nplus1::fuzz {
namespace {

using events::recording::Reader;
using hypothesis::transform::Chain;
using hypothesis::transform::Step;

struct Words {
  const char* verb;
  const char* settings;
};
constexpr std::array kSteps = {
    Words{"scale", "factor=0.5"},
    Words{"scale", "ranks=0-3,factor=1e300"},
    Words{"balance", "all"},
    Words{"balance", "weights=1:0:2,per=interval"},
    Words{"noise", "amount=0.5,seed=3"},
    Words{"noise", "amount=1e9,distribution=uniform"},
    Words{"steady", "all"},
    Words{"resize", "factor=1e18"},
    Words{"resize", "size=8..1KiB,bytes=100MB"},
    Words{"resize", "from=0,factor=0"},
    Words{"delete", "size=0..64KiB"},
    Words{"delete", "from=0,to=1"},
    Words{"replace", "with=bcast"},
    Words{"replace", "with=bcast,root=1,fewest=2,contents=same"},
    Words{"replace", "with=allreduce,bytes=1KiB"},
    Words{"replace", "with=alltoall"},
    Words{"replace", "with=gather,contents=same"},
    Words{"nonblocking", "all"},
    Words{"nonblocking", "post=3,wait=2"},
    Words{"nonblocking", "post=0,wait=1,dependent=yes"},
};

/// Whether the reader took it whole.
bool read(const std::filesystem::path& recording, events::EventSink& sink) {
  auto reader = Reader::open(recording);
  return reader && reader.value().read(sink).ok();
}

std::vector<Step> steps_of(Choices& choices) {
  std::vector<Step> steps;
  for (std::uint64_t left = 1 + choices.below(3); left > 0; --left) {
    const Words& words = kSteps[choices.byte() % kSteps.size()];
    auto step = hypothesis::transform::parse_step(words.verb, words.settings, "--fuzz");
    if (step) steps.push_back(std::move(step).value());
  }
  return steps;
}

bool analyse(const std::filesystem::path& recording, const std::vector<Step>& steps, std::uint8_t which) {
  auto reader = Reader::open(recording);
  if (!reader) return false;
  const auto ranks = static_cast<std::size_t>(reader.value().header().ranks);
  hypothesis::IdealReplay ideal{ranks};
  guidelines::CallCounter counter;
  events::SinkList both;
  both.add(ideal);
  both.add(counter);
  if (!read(recording, both)) return false;
  static_cast<void>(ideal.time());
  static_cast<void>(counter.calls());

  const auto play = [&recording](events::EventSink& sink, bool) -> Result<hypothesis::transform::Done> {
    if (!read(recording, sink)) return Error{"it cannot be read", ""};
    return hypothesis::transform::Done{};
  };
  auto chain = Chain::build(steps, play, Duration{which % 8 < 4 ? 0 : 1'000'000});
  if (!chain) return true;  // about what is not there
  static const auto network = std::move(netmodel::parse("lsb:latency=1e-06,bandwidth=1e+09").value());
  hypothesis::WaitStates states{ranks, network.get()};
  hypothesis::ReplayOptions options;
  options.network = network.get();
  options.hypothesis = &chain.value();
  options.decisions = static_cast<hypothesis::Decisions>(which % 3);
  options.weak_progress = which % 2 == 0;
  options.sink = &states;
  if (hypothesis::replay(reader.value(), options)) static_cast<void>(states.result());
  return true;
}

}  // namespace

bool run(Input input) {
  Choices choices{input};
  const std::uint8_t which = choices.byte();
  const std::vector<Step> steps = steps_of(choices);
  const auto ranks =
      static_cast<std::int32_t>(choices.once_in(200) ? 1 + choices.below(20'000) : 1 + choices.below(8));
  const events::recording::ScratchFolder folder{in_memory()};
  const std::filesystem::path recording = folder.path() / "recording";
  write_claims(recording, choices, ranks, 300, Accesses::kNone);
  return analyse(recording, steps, which);
}

std::vector<std::string> seeds() {
  return seeds_of_claims(1500);
}

bool is_text() {
  return false;
}

}  // namespace nplus1::fuzz
