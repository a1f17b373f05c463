#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "events/exchange/new_file.hpp"
#include "events/goal/goal.hpp"
#include "events/goal/graph.hpp"

namespace nplus1::events::goal {
namespace {

namespace fs = std::filesystem;
using exchange::Exported;
using exchange::Flattener;
using exchange::Message;
using exchange::NewFile;
using exchange::NewFolder;

constexpr std::size_t kBuffer = 16 << 10;

/// A rank's part, spooled to a file of its own until all ranks are known.
class Part {
 public:
  void start(fs::path file) { file_ = std::move(file); }
  void write(const std::string& text) {
    buffer_ += text;
    if (buffer_.size() > kBuffer) flush();
  }
  void copy_to(NewFile& out) {
    if (fs::exists(file_)) {
      std::ifstream stream{file_, std::ios::binary};
      std::vector<char> block(std::size_t{1} << 16);
      while (stream.read(block.data(), static_cast<std::streamsize>(block.size())) || stream.gcount() > 0)
        out.write({block.data(), static_cast<std::size_t>(stream.gcount())});
    }
    out.write(buffer_);
  }
  [[nodiscard]] bool failed() const { return failed_; }

  // The program: each operation follows the one before it, and what was started is in `started` until it is awaited.
  std::uint64_t operations = 0;
  std::uint64_t join = 0;  // the last one that waits for others, and does nothing else
  bool goes_on = false;    // the program does not wait for the end of the last one
  Duration rest{};         // computing that was less than a unit
  std::unordered_map<std::uint64_t, std::uint64_t> started;

 private:
  void flush() {
    std::ofstream stream{file_, std::ios::binary | std::ios::app};
    stream << buffer_;
    stream.close();
    failed_ = stream.fail() || failed_;
    buffer_.clear();
  }
  fs::path file_;
  std::string buffer_;
  bool failed_ = false;
};

class GoalWriter final : public exchange::Exporter, private exchange::Programs {
 public:
  GoalWriter(NewFile file, NewFolder spool, const exchange::Preamble& preamble, exchange::Expand expand)
      : file_{std::move(file)},
        spool_{std::move(spool)},
        flattener_{preamble.ranks, *this, std::move(expand)},
        parts_(static_cast<std::size_t>(preamble.ranks)) {
    for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i].start(spool_.path() / std::to_string(i));
  }

  void on_event(const TimedEvent& event) override {
    ++events_;
    flattener_.on_event(event);
  }
  void on_match(RankId receiver, const Answer& match) override { flattener_.on_match(receiver, match); }
  void on_communicator(const Communicator& communicator) override {
    flattener_.on_communicator(communicator);
  }

  Result<Exported> close() override {
    auto lost = flattener_.finish();
    file_.write(fmt::format("num_ranks {}\n", parts_.size()));
    bool failed = false;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      file_.write(fmt::format("\nrank {} {{\n", i));
      parts_[i].copy_to(file_);
      file_.write("}\n");
      failed = failed || parts_[i].failed();
    }
    if (failed)
      return Error{spool_.path().string() + ": cannot be written", "make room there, or use another -o"};
    if (const auto done = file_.commit(); !done) return done.error();
    return Exported{events_, std::move(lost)};
  }

 private:
  void compute(RankId rank, Duration time) override {
    Part& part = parts_[rank.index()];
    part.rest += time;
    const std::int64_t units = part.rest.count() / kPicosecondsPerUnit;
    if (units == 0) return;
    part.rest -= Duration{units * kPicosecondsPerUnit};
    operation(part, fmt::format("calc {}", units), false);
  }
  void send(RankId rank, const Message& message, std::uint64_t handle) override {
    Part& part = parts_[rank.index()];
    part.started[handle] = operation(
        part, fmt::format("send {}b to {} tag {}", written(message.size), message.peer, message.tag), true);
  }
  /// LogGOPSim matches by source and tag, so that a size that is not known here may be any.
  void receive(RankId rank, const Message& message, std::uint64_t handle) override {
    Part& part = parts_[rank.index()];
    part.started[handle] = operation(
        part, fmt::format("recv {}b from {} tag {}", written(message.size), message.peer, message.tag), true);
  }
  void wait(RankId rank, std::uint64_t handle) override {
    Part& part = parts_[rank.index()];
    const auto found = part.started.find(handle);
    const std::uint64_t awaited = found->second;
    part.started.erase(found);
    if (awaited == part.operations) {  // started just now: what follows requires its end
      part.goes_on = false;
      return;
    }
    if (part.operations == 0 || part.join != part.operations) part.join = operation(part, "calc 0", false);
    part.write(fmt::format("l{} requires l{}\n", part.join, awaited));
  }

  /// A message of s bytes costs (s - 1) G there: an empty one would cost less than nothing.
  static std::int64_t written(std::int64_t size) { return std::max<std::int64_t>(size, 1); }

  /// A new operation after the last one: after its end, or, where the program goes on meanwhile, after its start. Its
  /// number.
  static std::uint64_t operation(Part& part, const std::string& text, bool goes_on) {
    const std::uint64_t last = part.operations;
    const std::uint64_t self = ++part.operations;
    part.write(fmt::format("l{}: {}\n", self, text));
    if (last != 0)
      part.write(fmt::format("l{} {} l{}\n", self, part.goes_on ? "irequires" : "requires", last));
    part.goes_on = goes_on;
    return self;
  }

  NewFile file_;
  NewFolder spool_;  // never committed: it goes with this
  Flattener flattener_;
  std::vector<Part> parts_;
  std::uint64_t events_ = 0;
};

}  // namespace

Result<std::unique_ptr<exchange::Exporter>> create(const fs::path& path, const exchange::Preamble& preamble,
                                                   exchange::Expand expand) {
  auto file = NewFile::create(path);
  if (!file) return file.error();
  auto spool = NewFolder::create(path.string() + ".ranks");
  if (!spool) return spool.error();
  return std::unique_ptr<exchange::Exporter>{std::make_unique<GoalWriter>(
      std::move(file).value(), std::move(spool).value(), preamble, std::move(expand))};
}

}  // namespace nplus1::events::goal
