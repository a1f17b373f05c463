// The keepers of a job: two processes, forked by rank n, that hold its connection to Hydra. One leads: it starts the
// simulator and answers the barriers. The other stands by, and takes over where the leader is killed, with a new
// one to stand by; the leader replaces the other likewise. So the connection, without which Hydra ends the job,
// lasts as long as one of the two.
#pragma once

#include <string>

namespace nplus1::stubs {

/// Forks both and returns; false if that is not possible. `program`: the simulator; empty: there is none to start.
[[nodiscard]] bool begin_keepers(int pmi_descriptor, const std::string& job, const std::string& program);

}  // namespace nplus1::stubs
