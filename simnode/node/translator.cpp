#include "simnode/node/translator.hpp"

namespace nplus1::simnode::node {
namespace {

using events::EventKind;

/// The lists of an event; how many entries count stands in the event.
events::Extension lists(const events::Event& event, std::span<const std::byte> bytes) {
  events::Extension e;
  if (bytes.empty()) return e;
  // The assembler's buffer comes from operator new: aligned for both.
  if (event.has(events::kHasBytesPerMember)) {
    const auto* at = reinterpret_cast<const std::int64_t*>(bytes.data());
    e.sizes = {at, std::min<std::size_t>(event.aux, bytes.size() / sizeof(std::int64_t))};
  } else {
    const std::uint64_t n =
        event.kind == EventKind::kCommDefine ? static_cast<std::uint64_t>(event.size) : event.aux;
    const auto* at = reinterpret_cast<const std::uint32_t*>(bytes.data());
    e.words = {at, std::min<std::size_t>(n, bytes.size() / sizeof(std::uint32_t))};
  }
  return e;
}

std::string text(std::span<const std::byte> bytes, std::uint64_t length) {
  return {reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(length, bytes.size())};
}

std::vector<RankId> ranks_of(std::span<const std::uint32_t> words) {
  std::vector<RankId> ranks;
  for (const std::uint32_t w : words) ranks.emplace_back(static_cast<std::int32_t>(w));
  return ranks;
}

}  // namespace

void Translator::define_comm(RankId rank, events::Event& event, const events::Extension& extension,
                             events::EventSink& sink) {
  const auto next = CommId{static_cast<std::uint32_t>(comm_sizes_.size())};
  const auto [place, is_new] = comm_of_key_.emplace(event.aux, next);
  ranks_[rank.index()].comms[event.comm.value] = place->second;
  event.comm = place->second;
  if (!is_new) return;
  comm_sizes_.push_back(extension.words.size());
  const auto first = static_cast<std::size_t>(event.peer);
  if (first > 0)
    engine_.define_communicator(event.comm, ranks_of(extension.words.first(first)),
                                ranks_of(extension.words.subspan(first)));
  else if (event.comm.value != 0)  // the engine knows the world
    engine_.define_communicator(event.comm, ranks_of(extension.words));
  sink.on_event({rank, event, extension, event.entry()});
}

void Translator::take(RankId rank, events::Event event, std::span<const std::byte> extension,
                      events::EventSink& sink) {
  Rank& r = ranks_[rank.index()];
  switch (event.kind) {
    case EventKind::kCommDefine:
      define_comm(rank, event, lists(event, extension), sink);
      return;
    case EventKind::kSiteDefine:
      r.sites[event.site.value] = text(extension, event.aux);
      return;
    case EventKind::kRegionDefine:
      r.regions[event.aux] = text(extension, static_cast<std::uint64_t>(event.size));
      return;
    default:
      break;
  }
  const auto known = r.comms.find(event.comm.value);
  if (known != r.comms.end()) event.comm = known->second;
  engine_.push(rank, event, lists(event, extension));
}

std::string Translator::site(RankId rank, CallSiteId site) const {
  const Rank& r = ranks_[rank.index()];
  const auto it = r.sites.find(site.value);
  return it == r.sites.end() ? std::string{} : it->second;
}

}  // namespace nplus1::simnode::node
