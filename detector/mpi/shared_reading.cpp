#include "detector/mpi/shared_reading.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace nplus1::detector {
namespace {

using events::recording::Reader;
using events::recording::Selection;

/// An end of a message, where its step was in the recording.
struct End {
  std::uint64_t position;
  Ends::Message message;
  std::int32_t rank;
  std::int32_t destination;  // of a send; kReceives
};
constexpr std::int32_t kReceives = -1;

class EndLog final : public Ends {
 public:
  void send(Message message, std::int32_t rank, std::int32_t destination) override {
    ends.push_back({position, message, rank, destination});
  }
  void receive(Message message, std::int32_t rank) override { ends.push_back({position, message, rank, kReceives}); }

  std::uint64_t position = 0;
  std::vector<End> ends;
};

struct Turn {
  std::uint64_t steps;
  std::uint64_t done;     // has read its last block
  std::uint64_t damaged;  // it, and what comes after, cannot be read
};

class Reading final : public StepReader {
 public:
  Reading(const Peers& peers, std::int32_t ranks)
      : peers_{peers}, ranks_{ranks}, out_(peers.size()), matching_{log_} {}

  std::size_t owner(std::int32_t rank) const {
    return static_cast<std::size_t>(rank) * peers_.size() / static_cast<std::size_t>(ranks_);
  }

  /// The others' steps of my ranks, in the order of the recording. True while somebody has more.
  bool take_turn(bool done, bool damaged) {
    const auto turns = peers_.all(std::vector<Turn>{{count_, done, damaged}});
    const auto from = peers_.exchange(out_);
    for (std::size_t q = 0; q < from.size() && !stopped_; ++q) {
      for (const Step& step : from[q]) {
        log_.position = position_ + step.number;
        matching_.apply(step);
      }
      position_ += turns[q].steps;
      stopped_ = turns[q].damaged != 0;
    }
    for (auto& list : out_) list.clear();
    count_ = 0;
    return std::ranges::any_of(turns, [](const Turn& t) { return t.done == 0; });
  }

  Matching& matching() { return matching_; }
  EndLog& log() { return log_; }

 private:
  void on_step(const Step& step) override {
    auto& list = out_[owner(step.rank)];
    list.push_back(step);
    list.back().number = count_++;
  }

  const Peers& peers_;
  std::int32_t ranks_;
  std::vector<std::vector<Step>> out_;
  std::uint32_t count_ = 0;  // steps since the last turn
  std::uint64_t position_ = 0;
  bool stopped_ = false;
  EndLog log_;
  Matching matching_;
};

/// The receiver's end of a message, for the analyser that has the sender.
struct ReceiveEnd {
  std::uint64_t message;
  std::uint64_t bytes;
  std::uint64_t buffer;
  CallSiteId site;
  Ends::Message index;  // here
  bool polled;
};

/// Settles the messages between my ranks and others'; numbers all messages of the run, and puts the numbers into
/// the log. Returns how many of my messages somebody else has.
std::uint64_t settle(const Peers& peers, Reading& reading) {
  Matching& matching = reading.matching();
  std::vector<std::vector<ReceiveEnd>> out(peers.size());
  for (const auto& [message, index] : matching.open()) {
    const Transfer& t = matching.transfers()[index];
    if (const std::size_t owner = reading.owner(t.source); owner != peers.rank())
      out[owner].push_back({message, t.content.bytes, t.destination_buffer, t.receive_site, index, t.polled});
  }
  const auto in = peers.exchange(out);
  std::vector<std::vector<Ends::Message>> found(peers.size());
  for (std::size_t q = 0; q < in.size(); ++q)
    for (const ReceiveEnd& end : in[q]) {
      const auto open = matching.open().find(end.message);
      found[q].push_back(open == matching.open().end() ? CausalOrder::kNowhere : open->second);
      if (open == matching.open().end()) continue;
      matching.arrive(open->second, end.bytes, end.buffer, end.site);
      matching.transfers()[open->second].polled = end.polled;
    }
  const auto answers = peers.exchange(found);

  const auto counts = peers.all(std::vector<std::uint32_t>{static_cast<std::uint32_t>(matching.transfers().size())});
  std::vector<std::uint32_t> first(peers.size());
  std::exclusive_scan(counts.begin(), counts.end(), first.begin(), 0U);
  std::vector<Ends::Message> number(matching.transfers().size());
  std::iota(number.begin(), number.end(), first[peers.rank()]);
  std::uint64_t elsewhere = 0;
  for (std::size_t q = 0; q < out.size(); ++q)
    for (std::size_t i = 0; i < out[q].size(); ++i)
      if (answers[q][i] != CausalOrder::kNowhere) {
        number[out[q][i].index] = first[q] + answers[q][i];
        ++elsewhere;
      }
  for (End& end : reading.log().ends) end.message = number[end.message];
  return elsewhere;
}

/// Logs of several analysers as one: positions are different, but for those of one analyser.
template <class Use>
void merge(const std::vector<End>& logs, const Use& use) {
  struct Log {
    const End* next;
    const End* end;
    bool operator<(const Log& other) const { return next->position > other.next->position; }
  };
  std::priority_queue<Log> queue;
  const End* begin = logs.data();
  const End* const end = begin + logs.size();
  while (begin != end) {
    const End* stop = begin + 1;
    while (stop != end && stop->position >= stop[-1].position) ++stop;
    queue.push({begin, stop});
    begin = stop;
  }
  while (!queue.empty()) {
    Log log = queue.top();
    queue.pop();
    const std::uint64_t limit = queue.empty() ? ~std::uint64_t{0} : queue.top().next->position;
    for (; log.next != log.end && log.next->position <= limit; ++log.next) use(*log.next);
    if (log.next != log.end) queue.push(log);
  }
}

/// The first analyser finds one order for all; everybody gets the places of its own messages.
CausalOrder::Places order(const Peers& peers, std::int32_t ranks, const EndLog& log, std::size_t mine) {
  const auto counts = peers.all(std::vector<std::uint64_t>{mine});
  const std::vector<End> logs = peers.first(log.ends);
  CausalOrder::Places places;
  if (peers.rank() == 0) {
    const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    CausalOrder order{static_cast<std::size_t>(ranks), total};
    merge(logs, [&](const End& end) {
      if (end.destination == kReceives)
        order.receive(end.message, end.rank);
      else
        order.send(end.message, end.rank, end.destination);
    });
    places = order.take(total);
  }
  return {peers.deal(places.sent_at, mine), peers.deal(places.received_at, mine), {}};
}

}  // namespace

Result<SharedReading> read_together(const Peers& peers, Reader& reader) {
  const std::int32_t ranks = reader.header().ranks;
  Reading reading{peers, ranks};
  Selection selection;
  selection.part = static_cast<std::uint32_t>(peers.rank());
  selection.parts = static_cast<std::uint32_t>(peers.size());
  selection.after_block = [&] { reading.take_turn(false, false); };
  const auto coverage = reader.read(reading, selection);
  const bool damaged = !coverage || !coverage.value().stopped.empty();
  while (reading.take_turn(true, damaged)) continue;
  if (!coverage) return coverage.error();

  const std::uint64_t elsewhere = settle(peers, reading);
  auto& all = reading.matching().transfers();
  auto places = order(peers, ranks, reading.log(), all.size());
  SharedReading result{transfers_of(ranks, std::move(all), std::move(places)), reading, coverage.value()};
  result.mine.unmatched -= elsewhere;
  sort_by_sending(result.mine.all);
  return result;
}

}  // namespace nplus1::detector
