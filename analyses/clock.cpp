#include "analyses/clock.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "analyses/replay.hpp"
#include "events/definitions_collector.hpp"
#include "events/recording/reader.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace fs = std::filesystem;
using hypothesis::clock::Stretches;

namespace {

using hypothesis::clock::Kind;
using hypothesis::clock::ToldByRun;

/// A run's stretches, and the places that they are between.
class TakenIn final : public events::DefinitionsCollector {
 public:
  explicit TakenIn(const std::string& source) {
    const auto reader = need(events::recording::Reader::open(source));
    ranks_ = reader.header().ranks;
    stretches_ = std::make_shared<Stretches>(need(hypothesis::clock::samples_of(reader.properties())));
    const auto play = play_recording(source);
    need(play(*this, false));
    looks_ = false;
    need(play(*this, false));
  }
  void on_event(const events::TimedEvent& timed) override {
    if (looks_)
      stretches_->look_at(timed.rank, timed.event);
    else
      stretches_->take(timed.rank, timed.ordinal, timed.event, timed.detail);
  }
  [[nodiscard]] const std::shared_ptr<Stretches>& stretches() const { return stretches_; }
  [[nodiscard]] std::int32_t ranks() const { return ranks_; }

  /// What it tells, with the numbers that `other` has for the call paths; what that does not call from there is left out.
  [[nodiscard]] ToldByRun told_as_in(const TakenIn& other) const {
    std::map<std::uint32_t, std::uint32_t> theirs{{0, 0}};
    std::map<std::string, std::uint32_t> numbers;
    for (const auto& [id, path] : other.call_paths()) numbers.emplace(text(path), id.value);
    for (const auto& [id, path] : call_paths())
      if (const auto found = numbers.find(text(path)); found != numbers.end())
        theirs.emplace(id.value, found->second);
    ToldByRun renamed;
    for (const auto& [kind, told] : stretches_->told()) {
      const auto after = theirs.find(kind.after), before = theirs.find(kind.before);
      if (after != theirs.end() && before != theirs.end())
        renamed.emplace(Kind{after->second, before->second, kind.size, kind.longer}, told);
    }
    return renamed;
  }

 private:
  static std::string text(const events::CallPath& path) {
    std::string text;
    for (const events::Frame& f : path.frames)
      text += f.module + ' ' + f.build_id + ' ' + std::to_string(f.offset) + '\n';
    return text;
  }

  std::shared_ptr<Stretches> stretches_;
  std::int32_t ranks_ = 0;
  bool looks_ = true;  // first at all lengths
};

}  // namespace

std::shared_ptr<Stretches> fitted_stretches(const std::string& source,
                                            const std::vector<std::string>& other_runs) {
  constexpr double kOfTheSameProgram = 0.5;  // of its computing: what polls does not come as often each time
  const TakenIn run{source};
  const ToldByRun own = other_runs.empty() ? ToldByRun{} : run.stretches()->told();
  std::vector<ToldByRun> others;
  for (const std::string& name : other_runs) {
    const TakenIn other{name};
    others.push_back(other.told_as_in(run));
    if (other.ranks() != run.ranks() ||
        hypothesis::clock::share_in_common(own, others.back()) < kOfTheSameProgram)
      throw Stopped{
          {name + " is no run of the same program on as many ranks, and of the same size, as " + source,
           "name only runs that were started alike, with nplus1 run --compute warm", Fault::kInput}};
  }
  run.stretches()->join(others);
  run.stretches()->fit();
  return run.stretches();
}

std::string clock_beside(const std::string& source) {
  const fs::path path = fs::weakly_canonical(source);
  std::error_code error;
  if (fs::exists(path / kClockFile, error)) return (path / kClockFile).string();
  for (const fs::path& folder : {path, path.parent_path()})  // DIR/warm, DIR/warm/recording
    if (folder.filename() == kWarmFolder && fs::exists(folder.parent_path() / kClockFile, error))
      return (folder.parent_path() / kClockFile).string();
  return {};
}

namespace {

/// Null, or discarded, where there is none.
nlohmann::json clock_of(const std::string& source) {
  std::ifstream in{clock_beside(source)};
  return nlohmann::json::parse(in, nullptr, false);
}

}  // namespace

double share_by_data(const std::string& source) {
  const nlohmann::json clock = clock_of(source);
  if (!clock.is_object() || !clock.contains("kinds")) return 0;
  double all = 0, by_data = 0;
  for (const nlohmann::json& kind : clock["kinds"]) {
    if (!kind.is_object() || !kind.contains("warm_s") || !kind["warm_s"].is_number()) continue;
    const double time = kind["warm_s"];
    all += time;
    if (const auto said = kind.find("by_data"); said != kind.end() && *said == true) by_data += time;
  }
  return all > 0 ? by_data / all : 0;
}

void add_interval(report::JsonObject& document, const std::string& source) {
  const nlohmann::json clock = clock_of(source);
  const auto tells = [&](const char* key) { return clock.contains(key) && clock[key].is_number(); };
  if (!clock.is_object() || !tells("lowest_s") || !tells("from_s") || !tells("to_s") || !tells("measured_s"))
    return;
  nlohmann::ordered_json interval;
  interval["lowest_s"] = clock["lowest_s"];
  interval["from_s"] = clock["from_s"];
  interval["to_s"] = clock["to_s"];
  interval["highest_s"] = clock["measured_s"];
  interval["share"] = kShareOfInterval;
  document.raw("virtual_time_interval", interval.dump());
}

std::string with_warm_clock(const std::string& source) {
  const auto warm = std::filesystem::path{source} / kWarmFolder;
  std::error_code error;
  return std::filesystem::exists(warm / "recording", error) ? warm.string() : source;
}

}  // namespace nplus1::analyses
