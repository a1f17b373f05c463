// The keepers of a job: two processes, forked by rank n, that hold its connection to Hydra. One leads: it starts the
// simulator and answers the barriers. The other stands by, and takes over where the leader is killed, with a new
// one to stand by; the leader replaces the other likewise. So the connection, without which Hydra ends the job,
// lasts as long as one of the two.
#pragma once

#include <string>

namespace nplus1::stubs {

/// Forks both and returns; false if that is not possible. `program`: the simulator; empty: there is none to start.
/// `alone`: no other process of Hydra's is on this host. Its proxy, which carries the connection, would end with the
/// caller; so the keepers hold the standard streams too, until they know by themselves that the job is over.
[[nodiscard]] bool begin_keepers(int pmi_descriptor, const std::string& job, const std::string& program,
                                 bool alone);

}  // namespace nplus1::stubs
