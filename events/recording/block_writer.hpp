// The second half of a Writer: packs finished blocks and appends them to the file, in a thread of its own or
// in the caller's. Decides what is kept: under the size cap, and until the first error. At most one batch is
// on its way; handing over another one waits for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "events/recording/block_encoder.hpp"
#include "events/recording/columns.hpp"
#include "events/recording/output_file.hpp"
#include "events/recording/writer.hpp"

namespace nplus1::events::recording {

/// What is handed over at once: definitions first, then rows that may use them.
struct Batch {
  ByteVector definitions;  // records
  Block rows;

  void clear() {
    definitions.clear();
    rows.clear();
  }
  [[nodiscard]] bool empty() const { return definitions.empty() && rows.rows() == 0; }
};

class BlockWriter {
 public:
  BlockWriter(OutputFile file, const WriterOptions& options);
  ~BlockWriter();
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  /// Takes the batch and leaves an empty one in its place.
  void hand_over(std::unique_ptr<Batch>& batch);
  /// Waits until all that was handed over is in the file, or dropped.
  void drain();
  /// After drain(): the closing block. `refused`: what was dropped without being handed over.
  void close(const Totals& refused);

  /// From any thread: no more rows will be kept.
  [[nodiscard]] bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  /// What came of all batches that are settled.
  [[nodiscard]] Totals totals() const;
  [[nodiscard]] std::optional<Error> status() const;

 private:
  void run();
  void write(Batch& batch);
  void write_definitions(const Batch& batch);
  void write_rows(Batch& batch);
  void append(BlockType type, std::uint32_t rows);
  void stop(const Error& error);

  OutputFile file_;
  const WriterOptions options_;
  ColumnPacker packer_;
  ByteVector payload_;
  std::atomic<bool> stopped_{false};
  std::atomic<std::uint64_t> bytes_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<Batch> spare_;
  std::unique_ptr<Batch> pending_;  // to be written; also while it is being written
  bool ending_ = false;
  Totals totals_;
  std::optional<Error> error_;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace nplus1::events::recording
