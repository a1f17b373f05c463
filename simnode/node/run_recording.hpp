// The recording of a run: DIR/recording, from the first rank's greeting to the end of the job. Of one thread. Trouble with
// it never ends the run.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/recording/writer.hpp"
#include "report/run_summary.hpp"
#include "simnode/engine/recorder.hpp"
#include "simnode/node/settings.hpp"

namespace nplus1::simnode::node {

class RunRecording {
 public:
  /// `settings`: where nothing can be recorded, they say so from then on.
  RunRecording(Settings& settings, std::vector<std::string>& notes) : settings_{settings}, notes_{notes} {}

  void begin(std::int32_t ranks, const std::string& application, const std::string& network);
  [[nodiscard]] bool is_on() const { return writer_ != nullptr; }
  /// Null where nothing is recorded.
  [[nodiscard]] events::recording::Writer* writer() { return writer_.get(); }
  /// Simulated runs: calls are recorded with what the engine says of them; `others` are told, too, in the same order.
  void wait_for_the_engine(std::size_t ranks, events::EventSink& others) {
    recorder_ = std::make_unique<engine::Recorder>(ranks, *writer_, others);
  }
  /// Null in native runs, and where nothing is recorded.
  [[nodiscard]] engine::Recorder* recorder() { return recorder_.get(); }
  [[nodiscard]] engine::Recorder* recorder() const { return recorder_.get(); }

  /// Events reach the disk within a second. What is said of trouble, once.
  [[nodiscard]] std::optional<std::string> tick();
  void close();
  /// No simulation came about.
  void discard();
  [[nodiscard]] report::Recording summary(double hashing_s) const;

 private:
  Settings& settings_;
  std::vector<std::string>& notes_;
  std::unique_ptr<events::recording::Writer> writer_;
  std::unique_ptr<engine::Recorder> recorder_;
  bool trouble_said_ = false;
};

}  // namespace nplus1::simnode::node
