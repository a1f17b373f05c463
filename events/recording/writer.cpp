#include "events/recording/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "events/recording/block_encoder.hpp"
#include "events/recording/block_writer.hpp"
#include "events/recording/definitions_codec.hpp"

namespace nplus1::events::recording {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Clock::duration kFirstPatience = std::chrono::milliseconds{16};
constexpr std::size_t kDefinitionBytes = 1U << 20U;  // after which definitions are handed on

}  // namespace

/// What the caller's thread does: fills a batch, and hands it over when it is full or old.
class WriterCore {
 public:
  WriterCore(OutputFile file, std::int32_t ranks, const WriterOptions& options)
      : ranks_{ranks}, output_{std::move(file), options}, encoder_{ranks}, interval_{options.flush_interval} {
    encoder_.start(batch_->rows);
  }

  void add(const TimedEvent& event) {
    if (!takes(event)) {
      ++refused_.dropped_events;
      return;
    }
    encoder_.add(event);
    ++taken_.events;
    if (encoder_.full()) hand_over();
  }

  void add_match(RankId receiver, const Answer& match) {
    if (closed_ || output_.stopped()) {
      ++refused_.dropped_matches;
      return;
    }
    encoder_.add_match(receiver, match);
    ++taken_.matches;
    if (encoder_.full()) hand_over();
  }

  /// `put`: appends a record to a ByteVector. One that no reader would take is left out.
  template <class Put>
  void define(const Put& put) {
    if (closed_) return;
    ByteVector& records = batch_->definitions;
    const std::size_t before = records.size();
    put(records);
    if (records.size() > max_definition_bytes(ranks_)) records.resize(before);
    if (records.size() >= kDefinitionBytes) hand_over();
  }

  void tick() {
    const Clock::time_point now = Clock::now();
    if (now - handed_over_ < patience_) return;
    if (batch_->empty())
      handed_over_ = now;
    else
      hand_over();
  }

  void flush() {
    if (closed_) return;
    hand_over();
    output_.drain();
  }

  void close() {
    flush();
    if (!std::exchange(closed_, true)) output_.close(refused_);
  }

  [[nodiscard]] Totals totals() const {
    const Totals settled = output_.totals();
    return {taken_.events - settled.dropped_events, taken_.matches - settled.dropped_matches,
            refused_.dropped_events + settled.dropped_events,
            refused_.dropped_matches + settled.dropped_matches};
  }
  [[nodiscard]] const BlockWriter& output() const { return output_; }

 private:
  [[nodiscard]] bool takes(const TimedEvent& event) const {
    const std::uint64_t longest = encoder_.longest_list();
    return !closed_ && !output_.stopped() && event.extension.words.size() <= longest &&
           event.extension.sizes.size() <= longest && event.completed.size() <= longest;
  }

  void hand_over() {
    handed_over_ = Clock::now();
    if (batch_->empty()) return;
    if (taken_.events > 0) patience_ = std::min(interval_, std::max(kFirstPatience, 2 * patience_));
    encoder_.finish();
    output_.hand_over(batch_);
    encoder_.start(batch_->rows);
  }

  std::int32_t ranks_;
  BlockWriter output_;
  std::unique_ptr<Batch> batch_ = std::make_unique<Batch>();
  BlockEncoder encoder_;
  Clock::duration interval_;
  // The first events go out at once, the next ones soon: a simulator that is killed in its first second leaves what
  // began the run.
  Clock::duration patience_{};
  Clock::time_point handed_over_ = Clock::now();
  bool closed_ = false;
  Totals taken_;    // into batches
  Totals refused_;  // before
};

Result<std::unique_ptr<Writer>> Writer::create(const std::filesystem::path& folder, const Header& header,
                                               WriterOptions options) {
  if (header.ranks < 1 || header.ranks > kMaxRanks)
    return Error{fmt::format("a recording of {} ranks cannot be: 1 to {} can", header.ranks, kMaxRanks),
                 "check the number of ranks"};
  std::error_code failed;
  std::filesystem::create_directory(folder, failed);
  if (failed)
    return Error{fmt::format("cannot create the folder {}: {}", folder.string(), failed.message()),
                 "choose an output folder whose parent exists and can be written to"};
  Result<OutputFile> file = OutputFile::create(folder / kFileName, header.ranks);
  if (!file) return file.error();
  std::unique_ptr<Writer> writer{
      new Writer{std::make_unique<WriterCore>(std::move(file).value(), header.ranks, options)}};
  for (const auto& [name, value] : header.properties) writer->set_property(name, value);
  writer->flush();  // so that a run that is killed at once says what it was
  return writer;
}

Writer::Writer(std::unique_ptr<WriterCore> core) : core_{std::move(core)} {}

Writer::~Writer() {
  core_->flush();
}

void Writer::on_event(const TimedEvent& event) {
  core_->add(event);
}

void Writer::on_match(RankId receiver, const Answer& match) {
  core_->add_match(receiver, match);
}

void Writer::on_communicator(const Communicator& communicator) {
  core_->define([&](ByteVector& out) { put_definition(out, communicator); });
}

void Writer::on_call_path(const CallPath& path) {
  core_->define([&](ByteVector& out) { put_definition(out, path); });
}

void Writer::on_region(const Region& region) {
  core_->define([&](ByteVector& out) { put_definition(out, region); });
}

void Writer::on_datatype(const Datatype& datatype) {
  core_->define([&](ByteVector& out) { put_definition(out, datatype); });
}

void Writer::set_property(const std::string& name, const std::string& value) {
  core_->define([&](ByteVector& out) { put_property(out, name, value); });
}

void Writer::tick() {
  core_->tick();
}

void Writer::flush() {
  core_->flush();
}

std::optional<Error> Writer::close() {
  core_->close();
  return status();
}

std::optional<Error> Writer::status() const {
  return core_->output().status();
}

Totals Writer::totals() const {
  return core_->totals();
}

std::uint64_t Writer::bytes() const {
  return core_->output().bytes();
}

}  // namespace nplus1::events::recording
