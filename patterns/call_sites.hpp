// Calls, traffic and time for each call path and MPI function. Memory per call site, nothing per call.
// Not thread-safe.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "events/definitions.hpp"
#include "events/event.hpp"
#include "patterns/flat_map.hpp"
#include "patterns/patterns.hpp"

namespace nplus1::patterns {

inline constexpr std::size_t kMostCallSites = 5000;  // in the result

class CallSites {
 public:
  struct Counts {
    std::uint32_t path = 0;
    std::uint16_t call = 0;
    std::string name;
    std::uint64_t calls = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    Duration time{};
    Duration waiting{};
    Duration longest{};
  };

  /// The counts of an event's call path and function. Valid until the next call.
  Counts& of(const events::Event& event) {
    // Synthetic events have no function: their kind tells them apart.
    const std::uint32_t what = event.call != 0 ? event.call : 1U << 16 | static_cast<unsigned>(event.kind);
    std::uint32_t& place = places_[std::uint64_t{event.site.value} << 20 | what];
    return place == 0 ? add(place, event) : counts_[place - 1];
  }
  void define(const events::CallPath& path) { frames_[path.id.value] = path.frames; }

  /// The longest first; sets how many more there were than kMostCallSites.
  [[nodiscard]] std::vector<CallSiteUse> uses(std::uint64_t& left_out) const;

 private:
  Counts& add(std::uint32_t& place, const events::Event& event);
  [[nodiscard]] CallSiteUse use(const Counts& counts) const;

  FlatMap<std::uint32_t> places_;  // in counts_, from 1
  std::vector<Counts> counts_;
  std::unordered_map<std::uint32_t, std::vector<events::Frame>> frames_;
};

/// "MPI_Send"; large-count forms count as what they enlarge (MPI_Send_c is MPI_Send), and an event without
/// its function, as synthetic ones are, is named after its kind.
[[nodiscard]] std::string call_name(const events::Event& event);
[[nodiscard]] std::string call_name(std::uint16_t call);
/// The same for the tables of collectives, where a persistent one that is started has the name of what made it
/// ("MPI_Bcast_init"): MPI_Start says nothing about it. Those with sizes of their own for each type (Alltoallw) have the
/// name of their kind.
[[nodiscard]] std::string collective_name(const events::Event& event);

}  // namespace nplus1::patterns
