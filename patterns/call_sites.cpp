#include "patterns/call_sites.hpp"

#include <algorithm>
#include <tuple>

#include "events/mpi_call.hpp"
#include "patterns/collective_fans.hpp"

namespace nplus1::patterns {
namespace {

using events::EventKind;

std::string name_of_kind(EventKind kind) {
  switch (kind) {
    case EventKind::kSend:
      return "MPI_Send";
    case EventKind::kIsend:
      return "MPI_Isend";
    case EventKind::kRecv:
      return "MPI_Recv";
    case EventKind::kIrecv:
      return "MPI_Irecv";
    case EventKind::kWait:
      return "MPI_Wait";
    case EventKind::kTest:
      return "MPI_Test";
    case EventKind::kProbe:
      return "MPI_Probe";
    case EventKind::kIprobe:
      return "MPI_Iprobe";
    case EventKind::kRequestFree:
      return "MPI_Request_free";
    default:
      return "other";
  }
}

std::string name_of_collective(const events::Event& event) {
  std::string name{event.kind == EventKind::kIcollective ? "i" : ""};
  const std::string_view layer = layer_name(event.collective());
  name += layer.empty() ? "comm_create" : layer;
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return "MPI_" + name;
}

}  // namespace

std::string call_name(std::uint16_t call) {
  std::string_view name = events::name(static_cast<events::MpiCall>(call));
  if (name.ends_with("_c")) name.remove_suffix(2);
  return std::string{name};
}

std::string call_name(const events::Event& event) {
  if (event.call != 0) return call_name(event.call);
  const bool collective = event.kind == EventKind::kCollective || event.kind == EventKind::kIcollective;
  return collective ? name_of_collective(event) : name_of_kind(event.kind);
}

std::string collective_name(const events::Event& event) {
  const auto call = static_cast<events::MpiCall>(event.call);
  const bool started = call == events::MpiCall::MPI_Start || call == events::MpiCall::MPI_Startall;
  if (!started) return call_name(event);
  events::Event made = event;
  made.kind = EventKind::kCollective;
  return name_of_collective(made) + "_init";
}

CallSites::Counts& CallSites::add(std::uint32_t& place, const events::Event& event) {
  Counts& counts = counts_.emplace_back();
  place = static_cast<std::uint32_t>(counts_.size());
  counts.path = event.site.value;
  counts.call = event.call;
  counts.name = call_name(event);
  return counts;
}

CallSiteUse CallSites::use(const Counts& c) const {
  // Of a recording that was cut, a call's first event may be missing.
  CallSiteUse use{c.path, c.name,    {},       std::max<std::uint64_t>(1, c.calls), c.messages, c.bytes,
                  c.time, c.waiting, c.longest};
  const auto frames = frames_.find(c.path);
  if (frames == frames_.end()) return use;
  for (const events::Frame& f : frames->second)
    use.frames.push_back({f.function, f.file, f.line, f.module, f.offset});
  return use;
}

std::vector<CallSiteUse> CallSites::uses(std::uint64_t& left_out) const {
  std::vector<const Counts*> order;
  for (const Counts& c : counts_) order.push_back(&c);
  std::sort(order.begin(), order.end(), [](const Counts* a, const Counts* b) {
    return std::tie(b->time, a->path, a->name, a->call) < std::tie(a->time, b->path, b->name, b->call);
  });
  left_out = order.size() - std::min(order.size(), kMostCallSites);
  order.resize(std::min(order.size(), kMostCallSites));
  std::vector<CallSiteUse> uses;
  for (const Counts* c : order) uses.push_back(use(*c));
  return uses;
}

}  // namespace nplus1::patterns
