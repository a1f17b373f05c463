// For hung jobs: on a signal (NPLUS1_STATISTICS_SIGNAL, SIGUSR2 unless the program has a handler of its own or the variable
// is 0), or where this rank has neither begun nor ended an MPI call for NPLUS1_HANG_AFTER seconds, `nplus1 where` is started
// beside the job (NPLUS1_COMMAND says which nplus1), and says on stderr where all ranks are. The program is not stopped,
// and MPI is not called.
#pragma once

#include "stubs/statistics/recorder.hpp"

namespace nplus1::stubs::statistics {

void watch_for_hangs(Recorder& recorder);
void stop_watching();

}  // namespace nplus1::stubs::statistics
