#include "simnode/engine/core.hpp"

#include <stdexcept>
#include <utility>

namespace nplus1::simnode::engine {
namespace {

std::unique_ptr<Contention> contention_of(const netmodel::NetworkModel& network, const Options& options) {
  if (network.contention_free()) return nullptr;
  auto flows = network.flows();
  if (!flows) throw std::invalid_argument("network '" + network.describe() + "' tells the protocol only");
  if (options.watch_links) flows->watch_links();
  if (options.look_ahead) flows->look_ahead();
  return std::make_unique<Contention>(std::move(flows));
}

}  // namespace

Core::Core(int ranks, const netmodel::NetworkModel& network, Listener& listener, const Options& options)
    : options_{options},
      contention_{contention_of(network, options)},
      lanes_{ranks, contention_ ? Duration{} : network.minimum_latency(), options.poll_cost},
      turns_{lanes_},
      agenda_{lanes_},
      calls_{parts(network, listener)},
      threads_{parts(network, listener)},
      point_to_point_{parts(network, listener)},
      completions_{parts(network, listener)},
      probes_{parts(network, listener)},
      progress_{parts(network, listener)},
      flows_{parts(network, listener)},
      collectives_{parts(network, listener)},
      one_sided_{parts(network, listener)},
      files_{parts(network, listener)},
      decisions_{parts(network, listener)},
      buffering_{parts(network, listener)},
      diagnosis_{parts(network, listener)} {
  std::vector<RankId> world;
  for (std::int32_t r = 0; r < ranks; ++r) world.emplace_back(r);
  define_communicator(CommId{0}, std::move(world), 0);
}

Parts Core::parts(const netmodel::NetworkModel& network, Listener& listener) {
  return {network,   listener,  options_, contention_.get(), counters_,       lanes_,
          turns_,    agenda_,   calls_,   threads_,          point_to_point_, completions_,
          probes_,   progress_, flows_,   collectives_,      one_sided_,      files_,
          decisions_};
}

void Core::define_communicator(CommId comm, std::vector<RankId> members, std::size_t local_members) {
  collectives_.members().define(comm, std::move(members), local_members);
}

void Core::forget_communicator(CommId comm) {
  collectives_.members().forget(comm);
  one_sided_.forget(comm);
}

std::optional<netmodel::LinkUsage> Core::link_usage() const {
  return contention_ ? contention_->flows().link_usage() : std::nullopt;
}

State Core::state() {
  decisions_.refresh();
  if (lanes_.active() + lanes_.blocked() == 0) return State::kFinished;
  if (waits_for_time()) return State::kWaiting;
  return lanes_.active() == 0 ? State::kAllBlocked : State::kRunning;
}

/// Whether something is decided when virtual time has come so far.
bool Core::waits_for_time() const {
  return !agenda_.empty() || progress_.next() != kNever || one_sided_.next() != kNever ||
         files_.next() != kNever || (contention_ && !contention_->idle());
}

std::optional<RankId> Core::awaited() {
  decisions_.refresh();
  if (!waits_for_time() || lanes_.running_bound() == kNever) return std::nullopt;
  return lanes_.front_runner().rank;
}

ThreadId Core::awaited_thread() {
  return awaited() ? lanes_.front_runner().thread : ThreadId{0};
}

bool Core::release_rendezvous(bool whatever_runs) {
  if (!whatever_runs && state() != State::kAllBlocked) return false;
  if (!buffering_.release_earliest()) return false;
  calls_.drain();
  return true;
}

Counters Core::counters() const {
  Counters counters = counters_;
  if (contention_) counters.order_inversions += contention_->late();
  for (const Rank& rank : lanes_.all_ranks()) {
    counters.unmatched_messages += rank.mailbox.waiting_messages();
    counters.unmatched_receives += rank.mailbox.waiting_receives();
  }
  return counters;
}

}  // namespace nplus1::simnode::engine
