#include "hypothesis/clock/awake.hpp"

#include "hypothesis/clock/place.hpp"

namespace nplus1::hypothesis::clock {

double Awake::before(RankId rank, const events::Event& event, const events::Detail* detail) {
  constexpr double kSleptNs = 20e3;  // a call that returns without sleeping takes a few microseconds
  Thread& thread = threads_[thread_number(rank, event)];
  if (detail == nullptr) {
    thread = {};
    return 0;
  }
  const auto in_call_ns = static_cast<double>(detail->wall_before_ns - thread.entry_ns);
  if (thread.entry_ns == 0 || in_call_ns > kSleptNs) thread.awake_ps = 0;
  thread.entry_ns = detail->wall_entry_ns;
  const auto computed_ps = static_cast<double>(event.compute_ps);
  const auto passed_ns = static_cast<double>(detail->wall_entry_ns - detail->wall_before_ns);
  if (passed_ns - computed_ps / 1e3 > kSleptNs) {
    thread.awake_ps = 0;  // somebody else had the core meanwhile
    return 0;
  }
  const double awake = thread.awake_ps;
  thread.awake_ps += computed_ps;
  return awake;
}

}  // namespace nplus1::hypothesis::clock
