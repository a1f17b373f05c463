#include "simnode/engine/engine.hpp"

#include "simnode/engine/core.hpp"

namespace nplus1::simnode::engine {

Engine::Engine(int ranks, const netmodel::NetworkModel& network, Listener& listener, Options options)
    : core_{std::make_unique<Core>(ranks, network, listener, options)} {}
Engine::~Engine() = default;

void Engine::define_communicator(CommId comm, std::vector<RankId> members) {
  core_->define_communicator(comm, std::move(members), 0);
}

void Engine::define_communicator(CommId comm, std::vector<RankId> group, std::vector<RankId> remote_group) {
  const std::size_t local = group.size();
  group.insert(group.end(), remote_group.begin(), remote_group.end());
  core_->define_communicator(comm, std::move(group), local);
}

void Engine::forget_communicator(CommId comm) {
  core_->forget_communicator(comm);
}

void Engine::push(RankId rank, const events::Event& event, const events::Extension& extension) {
  core_->calls().push(rank, event, extension);
}
void Engine::decide() {
  core_->decisions().decide();
}
void Engine::set_bound(RankId rank, Time time, ThreadId thread) {
  core_->lanes().set_bound(rank, time, thread);
}
void Engine::withdraw(RankId rank) {
  core_->lanes().withdraw(rank);
}
void Engine::rank_gone(RankId rank) {
  core_->calls().rank_gone(rank);
}
std::optional<netmodel::LinkUsage> Engine::link_usage() const {
  return core_->link_usage();
}
State Engine::state() const {
  return core_->state();
}
bool Engine::somebody_asks() const {
  return core_->lanes().asking() > 0;
}
std::optional<RankId> Engine::awaited() const {
  return core_->awaited();
}
ThreadId Engine::awaited_thread() const {
  return core_->awaited_thread();
}
std::vector<BlockedThread> Engine::blocked() const {
  return core_->diagnosis().blocked();
}
std::vector<BlockedThread> Engine::outside() const {
  return core_->diagnosis().outside();
}
bool Engine::release_rendezvous(bool whatever_runs) {
  return core_->release_rendezvous(whatever_runs);
}
Counters Engine::counters() const {
  return core_->counters();
}
Time Engine::clock(RankId rank) const {
  return core_->lanes().clock(rank);
}
Time Engine::clock(RankId rank, ThreadId thread) const {
  return core_->lanes().clock(rank, thread);
}
bool Engine::ready(RankId rank) const {
  return core_->lanes().ready(rank);
}
std::optional<RankId> Engine::next_woken() {
  return core_->lanes().next_woken();
}

}  // namespace nplus1::simnode::engine
