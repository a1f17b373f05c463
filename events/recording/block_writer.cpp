#include "events/recording/block_writer.hpp"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <utility>

#include "events/recording/definitions_codec.hpp"

namespace nplus1::events::recording {

BlockWriter::BlockWriter(OutputFile file, const WriterOptions& options)
    : file_{std::move(file)},
      options_{options},
      bytes_{file_.bytes()},
      spare_{options.background ? std::make_unique<Batch>() : nullptr} {
  if (!options.background) return;
  // Signals are for the threads that expect them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread{[this] { run(); }};
  } catch (const std::system_error&) {
    // No thread to be had: then in the caller's.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

BlockWriter::~BlockWriter() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BlockWriter::hand_over(std::unique_ptr<Batch>& batch) {
  if (!thread_.joinable()) {
    write(*batch);
    batch->clear();
    return;
  }
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return pending_ == nullptr; });
  pending_ = std::exchange(batch, std::move(spare_));
  lock.unlock();
  changed_.notify_all();
}

void BlockWriter::drain() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return pending_ == nullptr; });
}

void BlockWriter::run() {
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return pending_ != nullptr || ending_; });
    if (pending_ == nullptr) return;
    lock.unlock();
    write(*pending_);
    pending_->clear();
    lock.lock();
    spare_ = std::move(pending_);
    changed_.notify_all();
  }
}

void BlockWriter::write(Batch& batch) {
  write_definitions(batch);
  write_rows(batch);
}

void BlockWriter::write_definitions(const Batch& batch) {
  if (batch.definitions.empty() || status()) return;
  payload_ = pack_definitions(batch.definitions, packer_);
  append(BlockType::kDefinitions, 0);
}

void BlockWriter::write_rows(Batch& batch) {
  Block& rows = batch.rows;
  if (rows.rows() == 0) return;
  if (!stopped()) {
    payload_.clear();
    for (Column c{0}; c < kColumns; c = Column(c + 1)) packer_.pack(c, rows.entries(c), payload_);
    // Once past the cap nothing more is kept, even if it would fit: no gaps.
    if (options_.size_cap != 0 && file_.bytes() + kHeaderBytes + payload_.size() > options_.size_cap)
      stopped_ = true;
    else
      append(BlockType::kEvents, rows.rows());
  }
  const std::lock_guard lock{mutex_};
  (stopped() ? totals_.dropped_events : totals_.events) += rows.events;
  (stopped() ? totals_.dropped_matches : totals_.matches) += rows.matches;
}

void BlockWriter::append(BlockType type, std::uint32_t rows) {
  if (const std::optional<Error> error = file_.append(type, rows, payload_)) stop(*error);
  bytes_ = file_.bytes();
}

void BlockWriter::stop(const Error& error) {
  stopped_ = true;
  const std::lock_guard lock{mutex_};
  if (!error_) error_ = error;
}

/// Tried even after an error: the little that it takes may fit where a block did not.
void BlockWriter::close(const Totals& refused) {
  Closing closing{totals(), status().value_or(Error{}).what};
  closing.totals.dropped_events += refused.dropped_events;
  closing.totals.dropped_matches += refused.dropped_matches;
  payload_ = closing_payload(closing);
  append(BlockType::kClosing, 0);
}

Totals BlockWriter::totals() const {
  const std::lock_guard lock{mutex_};
  return totals_;
}

std::optional<Error> BlockWriter::status() const {
  const std::lock_guard lock{mutex_};
  return error_;
}

}  // namespace nplus1::events::recording
