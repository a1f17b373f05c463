// What the stubs know of the MPI library that they are built for: its handles and limits. There is one build for each
// library; what else differs is in files of which each build takes its own (stubs/CMakeLists.txt).
#pragma once

#include <mpi.h>

#ifdef OPEN_MPI
#include "stubs/library/openmpi.hpp"
#else
#include "stubs/library/mpich.hpp"
#endif
