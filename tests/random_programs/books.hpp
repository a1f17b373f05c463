// The program's own book-keeping: what it has called and sent, to be compared with what nplus1 says.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace random_programs {

/// Counts of one rank, over all of its scripts; one thread's, until they are added.
class Books {
 public:
  void call(const std::string& name) { ++calls_[name]; }
  void message(int destination, long bytes) {
    auto& [count, sum] = messages_[destination];
    ++count;
    sum += bytes;
  }
  /// A call on a communicator of `size` members; root is -1 where there is none.
  void collective(const std::string& name, int size, int root) {
    call(name);
    ++collectives_[{name, size, root}];
  }
  void communicator_call(const std::string& name, int size) {
    call(name);
    ++communicator_calls_[{name, size, -1}];
  }
  /// A message of a collective's layer.
  void drawn(const std::string& layer, int source, int destination, long bytes) {
    auto& [count, sum] = layers_[{layer, source, destination}];
    ++count;
    sum += bytes;
  }
  /// What another thread of the rank has done.
  void add(const Books& other);
  void write(std::FILE* file, int rank) const;

 private:
  std::map<std::string, long> calls_;
  std::map<int, std::pair<long, long>> messages_;
  std::map<std::tuple<std::string, int, int>, long> collectives_, communicator_calls_;
  std::map<std::tuple<std::string, int, int>, std::pair<long, long>> layers_;
};

}  // namespace random_programs
