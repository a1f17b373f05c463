// `nplus1` may be started inside of a job that is watched: by the script that later becomes a rank, whose environment
// still preloads the stubs and describes that job. Jobs that are started from here are others.
#pragma once

#include <string>
#include <string_view>

namespace nplus1::cli {

/// What `preloaded` (LD_PRELOAD) names besides the stubs, of this installation or another.
std::string without_stubs(std::string_view preloaded);

/// Makes the process what it is outside of any job, by executing it again if need be: the stubs that are preloaded into
/// it bring MPI symbols, which SimGrid must not meet. Call first, before any thread; returns where nothing is to be done,
/// or where executing failed.
void leave_outer_job(char** argv);

}  // namespace nplus1::cli
