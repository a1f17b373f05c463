// Writes a recording (docs/formats/recording.md): the simulator's sink that keeps everything.
//
// One thread calls a Writer, the one that feeds its sinks. Compression and writing happen in a thread of its
// own (WriterOptions::background). Nothing that goes wrong while recording throws or ends anything: the
// writer cuts the file back to its last whole block, stops recording, counts what it drops and keeps the
// reason (status()). A writer that is destroyed without close() leaves a readable recording that says that
// it was not closed.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "events/recording/header.hpp"
#include "events/sink.hpp"
#include "support/result.hpp"

namespace nplus1::events::recording {

struct WriterOptions {
  /// Bytes of the file beyond which events and matches are dropped and counted; 0: none. Definitions and
  /// totals still go in, so that the file ends up a little larger.
  std::uint64_t size_cap = 0;
  /// Longest time that tick() leaves an event in memory; the first ones less.
  std::chrono::milliseconds flush_interval{500};
  /// Compress and write in a thread of its own, at most one block behind.
  bool background = true;
};

class WriterCore;

class Writer final : public EventSink {
 public:
  /// Makes `folder` (its parent must exist) and the recording's file in it. Fails if there is a recording in
  /// it already, if the folder cannot be made or written to, or if header.ranks is out of range.
  static Result<std::unique_ptr<Writer>> create(const std::filesystem::path& folder, const Header& header,
                                                WriterOptions options = {});
  ~Writer() override;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// An event's rank must be below header.ranks: std::invalid_argument otherwise.
  void on_event(const TimedEvent& event) override;
  void on_match(RankId receiver, const Answer& match) override;
  void on_communicator(const Communicator& communicator) override;
  void on_call_path(const CallPath& path) override;
  void on_region(const Region& region) override;
  void on_datatype(const Datatype& datatype) override;

  /// Adds or replaces a property. A reader sees the last value of each.
  void set_property(const std::string& name, const std::string& value);

  /// To be called often: hands on a partial block when the last one left longer than flush_interval ago.
  void tick();
  /// Writes out what is there, and waits until the kernel has it.
  void flush();
  /// Flushes, and ends the file with its totals. Afterwards the writer takes nothing more. Safe to call
  /// again. Returns status().
  std::optional<Error> close();

  /// Why recording stopped early, if it did.
  [[nodiscard]] std::optional<Error> status() const;
  /// What was taken and dropped so far.
  [[nodiscard]] Totals totals() const;
  /// The file's length so far, without what still waits in memory.
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  explicit Writer(std::unique_ptr<WriterCore> core);
  std::unique_ptr<WriterCore> core_;
};

}  // namespace nplus1::events::recording
