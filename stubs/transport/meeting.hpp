// Where a job's ranks find its simulator, and the key by which both know each other. The simulator chooses all three
// at random and tells its keeper, who hands them to the ranks through the process manager's key-value space, one
// word: it reaches the job's own processes only. Not in the environment, which children that are no ranks inherit
// and mpirun shows in its command line; and not derived from process ids, which anybody can compute and be there
// first.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stubs/transport/proof.hpp"

namespace nplus1::transport {

struct Meeting {
  std::string name;     // of an abstract unix socket, for ranks of the simulator's host
  std::string address;  // HOST:PORT for the others; empty where all are on one host
  Key key{};

  /// One word that a PMI value may be.
  [[nodiscard]] std::string word() const;
  /// Nothing for what word() does not make.
  [[nodiscard]] static std::optional<Meeting> parse(std::string_view word);
};

}  // namespace nplus1::transport
