// What the numbers in events mean: communicators, call paths, regions, datatypes. A definition comes before
// the first event that uses it, and may come again with more known (a call path's source lines, after the
// run).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/ids.hpp"

namespace nplus1::events {

struct Communicator {
  CommId id;
  std::vector<RankId> members;  // by rank in it; of an intercommunicator: the first group, then the second
  std::size_t first_group = 0;  // members of an intercommunicator's first group; 0: an intracommunicator
};

/// One return address, or a line that an interpreter executes, which has no module. What is not known is empty or 0.
struct Frame {
  std::string module;        // path of the program or library
  std::string build_id;      // its GNU build id, in lower-case hexadecimal digits
  std::uint64_t offset = 0;  // bytes into the loaded image
  std::string function;      // from here on: of a return address resolved after the run
  std::string file;
  std::uint32_t line = 0;
};

struct CallPath {
  CallSiteId id;
  std::vector<Frame> frames;  // innermost first: the caller of the MPI function
};

struct Region {
  RegionId id;
  std::string name;
};

struct Datatype {
  DatatypeId id;
  std::string name;        // MPI_INT; of derived types MPI_Type_get_name's, or what made it
  std::int64_t bytes = 0;  // payload of one element
};

}  // namespace nplus1::events
