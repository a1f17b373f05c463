// Variables of the MPI library are looked for when a program starts, functions when they are called. A library that ranks
// preload is also in what they start with that is no MPI program (a shell script, Python): there they may be missing.
#pragma once

#include <mpi.h>

#ifdef OPEN_MPI
#pragma weak ompi_mpi_byte
#pragma weak ompi_mpi_datatype_null
#pragma weak ompi_mpi_packed
#pragma weak ompi_mpi_op_null
#pragma weak ompi_mpi_op_max
#pragma weak ompi_mpi_op_min
#pragma weak ompi_mpi_op_sum
#pragma weak ompi_mpi_op_prod
#pragma weak ompi_mpi_op_land
#pragma weak ompi_mpi_op_band
#pragma weak ompi_mpi_op_lor
#pragma weak ompi_mpi_op_bor
#pragma weak ompi_mpi_op_lxor
#pragma weak ompi_mpi_op_bxor
#pragma weak ompi_mpi_comm_null
#pragma weak ompi_mpi_comm_self
#pragma weak ompi_request_null
#elif !defined(MPI_UNWEIGHTED)
#pragma weak MPI_UNWEIGHTED
#endif
