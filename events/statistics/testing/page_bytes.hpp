// For tests: the bytes of a rank's page (page.hpp) with a few entries in each table, as a job's file has it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "events/statistics/page.hpp"

namespace nplus1::events::statistics {

struct MadePage {
  Header header{};
  std::vector<Site> sites;
  std::vector<Peer> peers;
  std::vector<Size> sizes;
  std::vector<Collective> collectives;
  std::vector<Communicator> communicators;
  std::vector<Live> live;
  std::vector<MemberRange> ranges;
  std::vector<Path> paths;
  std::string text;
  std::vector<ThreadState> threads;

  MadePage(std::int32_t rank, std::int32_t ranks) {
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.version = kVersion;
    header.state = PageState::kFinalized;
    header.rank = rank;
    header.ranks = ranks;
    header.ns_per_tick = 0.5;
    header.begin_tick = 1000;
    header.end_tick = 2'000'001'000;  // a second later
    std::memcpy(header.program, "/bin/app", 9);
    ranges = {{0, 1, static_cast<std::uint32_t>(ranks)}};
  }

  [[nodiscard]] std::string bytes() const {
    Header h = header;
    std::string all(sizeof h, '\0');
    const auto add = [&](TableKind kind, const auto& entries) {
      const std::size_t size = sizeof entries[0];
      h.tables[static_cast<std::size_t>(kind)] = {all.size(), static_cast<std::uint32_t>(entries.size()),
                                                  static_cast<std::uint32_t>(size)};
      all.append(reinterpret_cast<const char*>(entries.data()), entries.size() * size);
      all.resize((all.size() + 7) / 8 * 8);
    };
    add(TableKind::kThreads, threads);
    add(TableKind::kSites, sites);
    add(TableKind::kPeers, peers);
    add(TableKind::kSizes, sizes);
    add(TableKind::kCollectives, collectives);
    add(TableKind::kCommunicators, communicators);
    add(TableKind::kLive, live);
    add(TableKind::kMembers, ranges);
    add(TableKind::kPaths, paths);
    add(TableKind::kText, text);
    h.paths = static_cast<std::uint32_t>(paths.size());
    h.page_bytes = all.size();
    std::memcpy(all.data(), &h, sizeof h);
    return all;
  }
};

}  // namespace nplus1::events::statistics
