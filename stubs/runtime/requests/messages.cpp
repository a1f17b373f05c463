#include "stubs/runtime/requests/messages.hpp"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "events/meeting.hpp"
#include "semantics/timing.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/hooks/receive_hook.hpp"

namespace nplus1::stubs {
namespace {

std::uint64_t early_key(std::int32_t source, std::uint64_t sequence) {
  return (static_cast<std::uint64_t>(source) << 40) ^ sequence;
}

}  // namespace

void Messages::begin(const netmodel::NetworkModel& network, RankId me, int ranks,
                     const transport::Segment& segment, bool direct) {
  network_ = &network;
  me_ = me;
  direct_ = direct;
  if (direct_) {
    stamps_out_.emplace(segment, me.value);
    stamps_in_.emplace(segment, me.value);
  }
  mailbox_ = semantics::Mailbox{network.minimum_latency()};
  sent_to_.assign(static_cast<std::size_t>(ranks), 0);
}

std::uint64_t Messages::publish(const Communicator& comm, RankId destination, std::int32_t tag, Bytes size,
                                bool rendezvous, Time at) {
  const std::uint64_t sequence = sent_to_[destination.index()]++;
  if (!direct_ || line_.is_cut()) return sequence;
  transport::Stamp* stamp = stamps_out_->allocate();
  while (stamp == nullptr) {  // 64 million messages in flight: wait for receivers
    usleep(1000);
    stamp = stamps_out_->allocate();
  }
  stamp->comm = comm.key;
  stamp->at_ps = at.time_since_epoch().count();
  stamp->size = count(size);
  stamp->sequence = sequence;
  stamp->source = me_.value;
  stamp->tag = tag;
  stamp->rendezvous = rendezvous ? 1 : 0;
  stamps_out_->deliver(*stamp, destination.value);
  return sequence;
}

bool Messages::absorb() {
  if (!stamps_in_) return true;
  stamps_in_->drain([this](const transport::Stamp& s) { take_stamp(s); });
  return !stamps_in_->broken();
}

void Messages::take_stamp(const transport::Stamp& stamp) {
  const auto early = taken_early_.find(early_key(stamp.source, stamp.sequence));
  if (early != taken_early_.end()) {
    taken_early_.erase(early);
    return;
  }
  const semantics::Message message{
      stamp.comm,     RankId{stamp.source},        stamp.tag, bytes(stamp.size),
      stamp.sequence, Time{Duration{stamp.at_ps}}, 0,         stamp.rendezvous != 0};
  if (const auto receive = mailbox_.arrive(message)) {
    const RequestId id{static_cast<std::uint32_t>(receive->id)};
    Request* request = requests_.find(id);
    requests_.unindex(id);
    if (request != nullptr) settle(*request, message);
  }
}

void Messages::settle(Request& request, const semantics::Message& message) const {
  request.known = true;
  request.overhead = network_->receive_overhead(message.size);
  request.peer = message.source;
  request.at = message.rendezvous ? semantics::rendezvous_end(*network_, message.at, request.posted,
                                                              message.source, me_, message.size)
                                  : std::max(message.at, request.posted);
}

void Messages::take(const Communicator& comm, RankId source, std::uint64_t sequence) {
  if (!mailbox_.take(comm.key, source, sequence)) taken_early_[early_key(source.value, sequence)] = true;
}

void Messages::matched_elsewhere(const events::Answer& match) {
  const bool on_its_way = match.flag == events::kOnItsWay;
  Request* request = requests_.find(match.request);
  if (!on_its_way || (request != nullptr && request->detached)) requests_.unindex(match.request);
  if (direct_ && request != nullptr && match.source >= 0 && !request->met)
    take(*request->comm, RankId{match.source}, match.sequence);
  if (request == nullptr) return;
  const std::shared_ptr<Communicator> kept = request->comm;  // post_held may end the request
  Communicator& comm = *kept;
  if (!request->met) count_undecided(comm, -1);
  request->met = true;
  request->engine_decided = on_its_way;  // when, only the simulator can tell
  request->known = !on_its_way;
  request->at = match.exit();
  request->overhead = network_->receive_overhead(bytes(match.size));
  request->peer = RankId{match.source};
  post_held(*request, comm.rank_of(match.source), match.tag);
  free_if_due(comm);
}

void Messages::post_held(Request& request, int source, std::int32_t tag) {
  if (!request.held) return;
  request.held = false;
  const Arguments& a = request.arguments;
  const ReceivesFromOne one;
  pmpi::Irecv(a.buffer, a.count, a.type, source, tag, request.comm->handle, &request.native);
  if (!request.detached) return;
  if (request.native != MPI_REQUEST_NULL) pmpi::Request_free(&request.native);
  requests_.drop_detached(request);
}

void Messages::post_all_held() {
  std::vector<Request*> held;
  requests_.for_each([&](Request& r) {
    if (r.held) held.push_back(&r);
  });
  std::sort(held.begin(), held.end(), [](const Request* a, const Request* b) { return a->id < b->id; });
  for (Request* r : held) post_held(*r, r->arguments.peer, r->arguments.tag);
}

void Messages::count_undecided(Communicator& comm, int change) {
  comm.undecided += static_cast<std::uint32_t>(change);
  undecided_ += static_cast<std::uint32_t>(change);
}

void Messages::free_if_due(Communicator& comm) {
  if (!comm.is_needed() && std::exchange(comm.free_later, false)) pmpi::Comm_free(&comm.handle);
}

}  // namespace nplus1::stubs
