#include <fmt/format.h>

#include "events/exchange/new_file.hpp"
#include "events/time_independent/time_independent.hpp"

namespace nplus1::events::time_independent {
namespace {

namespace fs = std::filesystem;
using exchange::Exported;
using exchange::Flattener;
using exchange::Message;
using exchange::NewFile;
using exchange::NewFolder;
using Kind = CollectiveKind;

std::string list(std::span<const std::int64_t> sizes, std::size_t members) {
  std::string text;
  for (std::size_t i = 0; i < members; ++i) text += fmt::format(" {}", i < sizes.size() ? sizes[i] : 0);
  return text;
}

std::int64_t sum(std::span<const std::int64_t> sizes) {
  std::int64_t total = 0;
  for (const std::int64_t size : sizes) total += size;
  return total;
}

/// The action as SMPI's replay reads it (bytes, no computation in reductions); empty if it has none.
std::string action(const TimedEvent& event, std::size_t members) {
  const Event& e = event.event;
  const auto size = e.size;
  const auto sizes = event.extension.sizes;
  switch (e.collective()) {
    case Kind::kBarrier:
    case Kind::kSynchronize:
      return "barrier";
    case Kind::kBcast:
      return fmt::format("bcast {} {}", size, e.peer);
    case Kind::kReduce:
      return fmt::format("reduce {} 0 {}", size, e.peer);
    case Kind::kAllreduce:
      return fmt::format("allreduce {} 0", size);
    case Kind::kScan:
      return fmt::format("scan {} 0", size);
    case Kind::kExscan:
      return fmt::format("exscan {} 0", size);
    case Kind::kGather:
      return fmt::format("gather {0} {0} {1}", size, e.peer);
    case Kind::kScatter:
      return fmt::format("scatter {0} {0} {1}", size, e.peer);
    case Kind::kGatherv:
      return fmt::format("gatherv {}{} {}", size, list(sizes, members), e.peer);
    case Kind::kScatterv:
      return fmt::format("scatterv{} {} {}", list(sizes, members), size, e.peer);
    case Kind::kAllgather:
      return fmt::format("allgather {0} {0}", size);
    case Kind::kAllgatherv:
      return fmt::format("allgatherv {}{}", size, list(sizes, members));
    case Kind::kAlltoall:
      return fmt::format("alltoall {0} {0}", size);
    case Kind::kReduceScatter:
      return fmt::format("reducescatter{} 0", list(sizes, members));
    case Kind::kReduceScatterBlock: {
      const std::vector<std::int64_t> blocks(members, size);
      return fmt::format("reducescatter{} 0", list(blocks, members));
    }
    case Kind::kAlltoallv: {
      if (sizes.size() < 2 * members) return {};
      const auto sent = sizes.first(members);
      const auto received = sizes.subspan(members, members);
      return fmt::format("alltoallv {}{} {}{}", sum(sent), list(sent, members), sum(received),
                         list(received, members));
    }
    case Kind::kNeighborAllgather:
    case Kind::kNeighborAlltoall:
      return {};
  }
  return {};
}

class TraceWriter final : public exchange::Exporter, private exchange::Programs {
 public:
  TraceWriter(NewFolder folder, NewFile file, const exchange::Preamble& preamble, exchange::Expand expand,
              double rate)
      : folder_{std::move(folder)},
        file_{std::move(file)},
        ranks_{static_cast<std::size_t>(preamble.ranks)},
        rate_{rate},
        flattener_{preamble.ranks, *this, std::move(expand)},
        started_(ranks_) {
    for (std::size_t rank = 0; rank < ranks_; ++rank) file_.write(fmt::format("{} init\n", rank));
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
    for (std::size_t rank = 0; rank < ranks_; ++rank) file_.write(fmt::format("{} finalize\n", rank));
    if (const auto done = file_.commit(); !done) return done.error();
    auto names = NewFile::create(folder_.path() / kList);
    if (!names) return names.error();
    names.value().write(std::string{kActions} + "\n");
    if (const auto done = names.value().commit(); !done) return done.error();
    if (const auto done = folder_.commit(); !done) return done.error();
    return Exported{events_, std::move(lost)};
  }

 private:
  void compute(RankId rank, Duration time) override {
    line(rank, fmt::format("compute {:.17g}", seconds(time) * rate_));
  }
  void send(RankId rank, const Message& message, std::uint64_t handle) override {
    line(rank, fmt::format("isend {} {} {}", message.peer, message.tag, message.size));
    remember(rank, rank.value, message.peer, message.tag, handle);
  }
  /// A size of -1 lets SMPI probe for it.
  void receive(RankId rank, const Message& message, std::uint64_t handle) override {
    line(rank, fmt::format("irecv {} {} {}", message.peer, message.tag, message.size));
    remember(rank, message.peer, rank.value, message.tag, handle);
  }
  void wait(RankId rank, std::uint64_t handle) override {
    const auto found = started_[rank.index()].find(handle);
    line(rank, "wait " + found->second);
    started_[rank.index()].erase(found);
  }
  bool collective(const TimedEvent& event) override {
    const std::string text = action(event, ranks_);
    if (!text.empty()) line(event.rank, text);
    return !text.empty();
  }

  void line(RankId rank, const std::string& text) { file_.write(fmt::format("{} {}\n", rank.value, text)); }
  void remember(RankId rank, std::int32_t from, std::int32_t to, std::uint32_t tag, std::uint64_t handle) {
    started_[rank.index()].emplace(handle, fmt::format("{} {} {}", from, to, tag));
  }

  NewFolder folder_;
  NewFile file_;
  std::size_t ranks_;
  double rate_;
  Flattener flattener_;
  std::vector<std::unordered_map<std::uint64_t, std::string>> started_;
  std::uint64_t events_ = 0;
};

}  // namespace

Result<std::unique_ptr<exchange::Exporter>> create(const fs::path& path, const exchange::Preamble& preamble,
                                                   exchange::Expand expand, double flops_per_second) {
  auto folder = NewFolder::create(path);
  if (!folder) return folder.error();
  auto file = NewFile::create(folder.value().path() / kActions);
  if (!file) return file.error();
  return std::unique_ptr<exchange::Exporter>{std::make_unique<TraceWriter>(
      std::move(folder).value(), std::move(file).value(), preamble, std::move(expand), flops_per_second)};
}

}  // namespace nplus1::events::time_independent
