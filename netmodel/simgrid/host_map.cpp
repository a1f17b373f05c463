#include "netmodel/simgrid/host_map.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "netmodel/text.hpp"

namespace nplus1::netmodel {
namespace {

constexpr const char* kMapHelp = "A map file lists a host name for each rank, NAME*K for K ranks in a row.";

std::vector<std::size_t> in_blocks(std::size_t ranks, const std::vector<MapHost>& hosts) {
  std::vector<std::size_t> map;
  for (std::size_t h = 0; map.size() < ranks; ++h)
    map.insert(map.end(), std::min(hosts[h].cores, ranks - map.size()), h);
  return map;
}

std::vector<std::size_t> in_turns(std::size_t ranks, const std::vector<MapHost>& hosts) {
  std::vector<std::size_t> map;
  for (std::size_t round = 0; map.size() < ranks; ++round)
    for (std::size_t h = 0; h < hosts.size() && map.size() < ranks; ++h)
      if (hosts[h].cores > round) map.push_back(h);
  return map;
}

/// NAME or NAME*K.
std::pair<std::string, std::size_t> repeated(const std::string& word) {
  const std::size_t star = word.rfind('*');
  if (star == std::string::npos) return {word, 1};
  std::size_t times = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + star + 1, end, times);
  return error == std::errc{} && stop == end ? std::pair{word.substr(0, star), times}
                                             : std::pair{word, std::size_t{1}};
}

Result<std::vector<std::size_t>> from_file(const std::string& path, std::size_t ranks,
                                           const std::vector<MapHost>& hosts) {
  std::ifstream file{path};
  if (!file) {
    return Error{"map " + in_quotes(path) + " is neither block nor round-robin nor a file that can be read",
                 kMapHelp};
  }
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t h = 0; h < hosts.size(); ++h) index.emplace(hosts[h].name, h);
  std::vector<std::size_t> map;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words{line.substr(0, line.find('#'))};
    for (std::string word; words >> word;) {
      const auto [name, times] = repeated(word);
      const auto host = index.find(name);
      if (host == index.end())
        return Error{path + ":" + std::to_string(number) + ": the platform has no host " + in_quotes(name),
                     kMapHelp};
      map.insert(map.end(), std::min(times, ranks - std::min(ranks, map.size())), host->second);
    }
  }
  if (map.size() < ranks) {
    return Error{
        path + ": names hosts for " + std::to_string(map.size()) + " of " + std::to_string(ranks) + " ranks",
        kMapHelp};
  }
  return map;
}

}  // namespace

Result<std::vector<std::size_t>> map_ranks(const std::string& map, std::size_t ranks,
                                           const std::vector<MapHost>& hosts) {
  if (hosts.empty()) return Error{"the platform has no hosts", "Add <host> or <cluster> elements to it."};
  const bool block = map == "block";
  if (!block && map != "round-robin" && !map.empty()) return from_file(map, ranks, hosts);
  std::size_t cores = 0;
  for (const MapHost& host : hosts) cores += host.cores;
  if (cores < ranks) {
    return Error{"the platform has " + std::to_string(hosts.size()) + " hosts with " + std::to_string(cores) +
                     " cores for " + std::to_string(ranks) + " ranks",
                 "Take a larger platform, raise core=\"...\" of its hosts, or place ranks with a map file."};
  }
  return block ? in_blocks(ranks, hosts) : in_turns(ranks, hosts);
}

}  // namespace nplus1::netmodel
