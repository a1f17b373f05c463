// Reads what ranks have left of their statistics (page.hpp): the folder of their pages, while the job runs or after it was
// killed, or the job's file. What is not sound in a file is an error that names it; a job's missing pages are not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "events/definitions.hpp"
#include "events/statistics/page.hpp"
#include "support/result.hpp"

namespace nplus1::events::statistics {

struct RankPage {
  Header header{};
  std::vector<ThreadState> threads;  // in use
  std::vector<Site> sites;
  std::vector<Peer> peers;
  std::vector<Size> sizes;
  std::vector<Collective> collectives;
  std::vector<Communicator> communicators;
  std::vector<Live> live;
  std::vector<MemberRange> ranges;
  std::vector<std::string> paths;  // frames; path p is at p - 1
  std::int64_t now_tick = 0;       // when it was read, on this host; 0: of a file

  [[nodiscard]] std::vector<std::int32_t> members(std::uint32_t index, std::uint32_t count) const;
};

/// By rank; ranks without a page are left out.
[[nodiscard]] Result<std::vector<RankPage>> read_pages(const std::filesystem::path& path);
/// Whether it looks like either.
[[nodiscard]] bool is_statistics(const std::filesystem::path& path);

}  // namespace nplus1::events::statistics
