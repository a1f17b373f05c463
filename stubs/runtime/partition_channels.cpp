#include "stubs/runtime/partition_channels.hpp"

#include <algorithm>
#include <numeric>

#include "stubs/pmpi.hpp"
#include "stubs/runtime/partitioned_request.hpp"

namespace nplus1::stubs {
namespace {

constexpr std::uint64_t kPartitions = 0x706172746974;  // tells the communicator from others of all ranks

}  // namespace

void PartitionChannels::open(MPI_Comm world) {
  if constexpr (MPI_VERSION >= 4) pmpi::Comm_dup(world, &native_);
}

void PartitionChannels::close() {
  if (native_ != MPI_COMM_NULL) pmpi::Comm_free(&native_);
}

Communicator& PartitionChannels::communicator(Runtime& rt) {
  if (made_) return *made_;
  std::vector<std::int32_t> all(static_cast<std::size_t>(rt.ranks()));
  std::iota(all.begin(), all.end(), 0);
  made_ = rt.communicators.make(std::move(all), Origin{0}, kPartitions);
  made_->handle = native_;
  made_->my_index = rt.me().value;
  rt.line.define(*made_);
  return *made_;
}

std::int32_t PartitionChannels::take_tags(RankId peer, std::int32_t n, std::int32_t largest) {
  std::int32_t& next = next_tag_.try_emplace(peer.value, kIntroductionTag + 1).first->second;
  if (next > largest - n) next = kIntroductionTag + 1;
  return std::exchange(next, next + n);
}

PartitionedName PartitionChannels::name(bool sends, RankId peer, const Communicator& comm, std::int32_t tag) {
  return {comm.key, tag, names_[{sends, peer.value, comm.key, tag}]++};
}

void PartitionChannels::expect(const std::shared_ptr<Partitioned>& receiver) {
  Source& source = from(receiver->peer);
  const auto come = std::find_if(source.unclaimed.begin(), source.unclaimed.end(),
                                 [&](const Introduction& i) { return i.name == receiver->name; });
  if (come == source.unclaimed.end()) {
    source.expected.push_back(receiver);
    return;
  }
  receiver->introduction = *come;
  source.unclaimed.erase(come);
}

void PartitionChannels::hand_out(Source& source) {
  const Introduction come = source.incoming;
  source.receive.reset();
  source.expected.remove_if([](const auto& entry) { return entry.expired(); });
  for (auto it = source.expected.begin(); it != source.expected.end(); ++it) {
    const auto receiver = it->lock();
    if (receiver->name != come.name) continue;
    receiver->introduction = come;
    source.expected.erase(it);
    return;
  }
  source.unclaimed.push_back(come);
}

}  // namespace nplus1::stubs
