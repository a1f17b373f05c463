// Open MPI's mpi.h, with one change: MPI_COMM_WORLD and its like are addresses of variables in Open MPI's library, with
// which the stubs must not be linked (a shell that starts the program has none, and the program may bring its own). So
// they are looked up when they are used.
#pragma once

#include_next <mpi.h>

#include "stubs/openmpi/predefined.hpp"

using MPI_Session = struct NoSession*;  // in calls of MPI 4 that it lacks

#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) (nplus1::stubs::predefined<type, #global>())
