#include "simnode/node/translator.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "events/checked_sink.hpp"
#include "events/frame_text.hpp"
#include "events/neighbours.hpp"
#include "events/thread_change.hpp"
#include "support/collective_forms.hpp"

namespace nplus1::simnode::node {
namespace {

using events::Event;
using events::EventKind;

/// The lists of an event; how many entries count stands in the event.
events::Extension lists_of(const events::Event& event, std::span<const std::byte> bytes) {
  events::Extension e;
  if (bytes.empty()) return e;
  // The assembler's buffer comes from operator new: aligned for both.
  if (event.has(events::kHasBytesPerMember)) {
    const auto* at = reinterpret_cast<const std::int64_t*>(bytes.data());
    const std::uint64_t n = events::is_access(event) ? 1 : event.aux;  // an access has one distance
    e.sizes = {at, std::min<std::size_t>(n, bytes.size() / sizeof(std::int64_t))};
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

std::uint32_t global(const std::vector<std::uint32_t>& numbers, std::size_t own) {
  return own < numbers.size() ? numbers[own] : 0;
}

/// What a rank says is held against what can be before anybody indexes by it: the node ends the observation of a job
/// whose rank says otherwise.
void demand(bool holds, const char* what, std::uint64_t value) {
  if (!holds) throw std::invalid_argument{std::string{what} + std::to_string(value)};
}

void set_global(std::vector<std::uint32_t>& numbers, std::size_t own, std::uint32_t to) {
  constexpr std::size_t kGap = 4096;  // they are dense but for those that were never told
  demand(own <= numbers.size() + kGap, "a definition with the number ", own);
  if (own >= numbers.size()) numbers.resize(own + 1);
  numbers[own] = to;
}

/// The number of `text`, from 1; whether it is new.
std::pair<std::uint32_t, bool> intern(std::unordered_map<std::string, std::uint32_t>& known,
                                      const std::string& text) {
  const auto [place, is_new] = known.emplace(text, static_cast<std::uint32_t>(known.size() + 1));
  return {place->second, is_new};
}

}  // namespace

void Translator::define_comm(RankId rank, events::Event& event, const events::Extension& extension,
                             events::EventSink& sink) {
  if (event.operation == 1) return forget_comm(rank, event);
  const std::size_t size = extension.words.size();
  demand(size > 0 && event.peer >= 0 && static_cast<std::size_t>(event.peer) < size,
         "a communicator of members ", size);
  for (const std::uint32_t member : extension.words)
    demand(member < ranks_.size(), "a communicator with the member ", member);
  const auto [place, is_new] = comm_of_key_.emplace(event.aux, CommId{comms_});
  ranks_[rank.index()].comms[event.comm.value] = place->second;
  event.comm = place->second;
  if (!is_new) return;
  ++comms_;
  members_left_.emplace(event.comm, size);
  const auto first = static_cast<std::size_t>(event.peer);
  if (first > 0)
    engine_.define_communicator(event.comm, ranks_of(extension.words.first(first)),
                                ranks_of(extension.words.subspan(first)));
  else if (event.comm.value != 0)  // the engine knows the world
    engine_.define_communicator(event.comm, ranks_of(extension.words));
  sink.on_communicator({event.comm, ranks_of(extension.words), first});
}

/// A communicator is forgotten with the last member that frees it; what the recording has is kept.
void Translator::forget_comm(RankId rank, const events::Event& event) {
  auto& comms = ranks_[rank.index()].comms;
  const auto own = comms.find(event.comm.value);
  if (own == comms.end() || own->second.value == 0) return;
  const CommId comm = own->second;
  comms.erase(own);
  const auto left = members_left_.find(comm);
  if (left == members_left_.end() || --left->second > 0) return;
  members_left_.erase(left);
  comm_of_key_.erase(event.aux);
  engine_.forget_communicator(comm);
}

void Translator::define_path(RankId rank, const events::Event& event, const std::string& text,
                             events::EventSink& sink) {
  const auto [number, is_new] = intern(path_of_text_, text);
  set_global(ranks_[rank.index()].sites, event.site.index(), number);
  if (!is_new) return;
  paths_.push_back({CallSiteId{number}, events::frames_of(text)});
  sink.on_call_path(paths_.back());
}

void Translator::define_region(RankId rank, const events::Event& event, const std::string& text,
                               events::EventSink& sink) {
  const auto [number, is_new] = intern(region_of_name_, text);
  set_global(ranks_[rank.index()].regions, event.aux, number);
  if (!is_new) return;
  if (event.operation == 1) address_regions_.push_back({RegionId{number}, text});
  sink.on_region({RegionId{number}, text});
}

void Translator::define_datatype(RankId rank, const events::Event& event, const std::string& text,
                                 events::EventSink& sink) {
  const auto [number, is_new] = intern(datatype_of_text_, std::to_string(event.size) + ' ' + text);
  set_global(ranks_[rank.index()].datatypes, event.aux, number);
  if (is_new) sink.on_datatype({DatatypeId{number}, text, event.size});
}

/// Times and sizes are added up, by the engine and by statistics: so are they here, where their sums are held to what
/// fits. A file's are in the same bounds (events/checked_sink.hpp).
void Translator::check_amounts(Rank& rank, const Event& event, const events::Extension& lists) {
  const auto bits = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  demand(event.entry_ps >= -events::kLatest && event.entry_ps < events::kLatest, "a call at the time ",
         bits(event.entry_ps));
  demand(event.compute_ps >= -events::kLatest && event.compute_ps < events::kLatest - rank.computed_ps,
         "a computing time of ", bits(event.compute_ps));
  rank.computed_ps += std::max<std::int64_t>(0, event.compute_ps);
  add_bytes(event.size);
  if (event.kind == EventKind::kOneSided) add_bytes(static_cast<std::int64_t>(event.aux));
  if (events::is_thread_change(event, events::ThreadChange::kStart))
    demand(event.aux < static_cast<std::uint64_t>(events::kLatest), "a thread begun after ", event.aux);
  for (const std::int64_t size : lists.sizes) {
    if (events::is_access(event))
      demand(size >= 0 && size < events::kLatest, "an access at the distance ", bits(size));
    else
      add_bytes(size);
  }
  const bool collective = event.kind == EventKind::kCollective || event.kind == EventKind::kIcollective;
  if (!collective || !is_neighborhood(event.collective())) return;
  if (const auto neighbours = events::neighbours_of(lists.words); neighbours && neighbours->have_sizes())
    for (std::size_t i = 0; i < neighbours->destinations.size(); ++i) add_bytes(neighbours->size(i));
}

void Translator::add_bytes(std::int64_t size) {
  constexpr auto kMostInAll = static_cast<std::int64_t>(events::kMostBytesInAll);
  demand(size >= 0 && size <= events::kMostBytes && size < kMostInAll - bytes_, "a size of ",
         static_cast<std::uint64_t>(size));
  bytes_ += size;
}

bool Translator::take(RankId rank, events::Event& event, std::span<const std::byte> extension,
                      events::EventSink& sink) {
  Rank& r = ranks_[rank.index()];
  demand(event.kind <= events::kLastEventKind, "an event of the kind ",
         static_cast<std::uint64_t>(event.kind));
  switch (event.kind) {
    case EventKind::kCommDefine:
      define_comm(rank, event, lists_of(event, extension), sink);
      return false;
    case EventKind::kSiteDefine:
      define_path(rank, event, text(extension, event.aux), sink);
      return false;
    case EventKind::kRegionDefine:
      define_region(rank, event, text(extension, static_cast<std::uint64_t>(event.size)), sink);
      return false;
    case EventKind::kDatatypeDefine:
      define_datatype(rank, event, text(extension, static_cast<std::uint64_t>(event.tag)), sink);
      return false;
    case EventKind::kRegionBegin:
    case EventKind::kRegionEnd:
      event.aux = global(r.regions, event.aux);
      break;
    default:
      if (events::names_file(event)) event.aux = global(r.regions, event.aux);
      break;
  }
  const auto known = r.comms.find(event.comm.value);
  if (known != r.comms.end()) event.comm = known->second;
  const auto peers = events::is_access(event) ? static_cast<std::int64_t>(events::Toucher::kEnd) + 1
                                              : static_cast<std::int64_t>(ranks_.size());
  demand(event.peer >= events::kIntercommRoot && event.peer < peers, "an event with the peer ",
         static_cast<std::uint64_t>(event.peer));
  check_amounts(r, event, lists_of(event, extension));
  event.site = CallSiteId{global(r.sites, event.site.index())};
  return true;
}

events::Extension Translator::lists(const events::Event& event, std::span<const std::byte> extension) {
  return lists_of(event, extension);
}

void Translator::push(RankId rank, const events::Event& event, std::span<const std::byte> extension) {
  engine_.push(rank, event, lists_of(event, extension));
}

DatatypeId Translator::datatype(RankId rank, DatatypeId own) const {
  return DatatypeId{global(ranks_[rank.index()].datatypes, own.index())};
}

}  // namespace nplus1::simnode::node
