# nplus1_mpi_program(name source [OPEN_MPI] [FLAGS flags...]): an MPI program built with MPICH's own compiler wrappers, or
# Open MPI's, as a user would build it, and linked with nothing of nplus1. It lands in NPLUS1_EXAMPLES_DIRECTORY,
# ${PROJECT_BINARY_DIR}/bin/examples/ unless told otherwise.
# Debian calls MPICH's wrappers mpicc.mpich and so on, because plain mpicc may be another MPI's.
find_program(NPLUS1_MPICC NAMES mpicc.mpich mpicc)
find_program(NPLUS1_MPICXX NAMES mpicxx.mpich mpicxx)
find_program(NPLUS1_MPIFORT NAMES mpifort.mpich mpifort)
find_program(NPLUS1_OPENMPI_CC mpicc.openmpi)
find_program(NPLUS1_OPENMPI_CXX mpicxx.openmpi)
find_program(NPLUS1_OPENMPI_FORT mpifort.openmpi)
set(NPLUS1_EXAMPLES_DIRECTORY "${PROJECT_BINARY_DIR}/bin/examples")

function(nplus1_mpi_program name source)
  cmake_parse_arguments(arg "OPEN_MPI" "" "FLAGS" ${ARGN})
  get_filename_component(path "${source}" ABSOLUTE)
  set(mpi "")
  set(compilers "${NPLUS1_MPICC}" "${NPLUS1_MPICXX}" "${NPLUS1_MPIFORT}")
  if(arg_OPEN_MPI)
    set(mpi _open_mpi)
    set(compilers "${NPLUS1_OPENMPI_CC}" "${NPLUS1_OPENMPI_CXX}" "${NPLUS1_OPENMPI_FORT}")
  endif()
  list(GET compilers 0 cc)
  list(GET compilers 1 cxx)
  list(GET compilers 2 fort)
  if(source MATCHES "\\.c$")
    set(compiler ${cc} -std=gnu11 -Wall -Wextra
      -Wno-stringop-overflow)  # GCC takes MPI_STATUSES_IGNORE for an array of size 0
  elseif(source MATCHES "\\.cpp$")
    set(compiler ${cxx} -std=c++17 -Wall -Wextra)
  else()
    set(compiler ${fort} -fallow-argument-mismatch)
  endif()
  set(output "${NPLUS1_EXAMPLES_DIRECTORY}/${name}")
  # Each program has a folder of its own for the module files that Fortran leaves behind.
  set(scratch "${CMAKE_CURRENT_BINARY_DIR}/${name}${mpi}.scratch")
  file(MAKE_DIRECTORY "${scratch}" "${NPLUS1_EXAMPLES_DIRECTORY}")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND ${compiler} -O2 -g "-I${PROJECT_SOURCE_DIR}/include" ${arg_FLAGS} -o "${output}" "${path}" -lm
    DEPENDS "${path}" "${PROJECT_SOURCE_DIR}/include/nplus1.h" "${PROJECT_SOURCE_DIR}/include/nplus1.f90"
    WORKING_DIRECTORY "${scratch}"
    COMMENT "MPI program ${name}${mpi}" VERBATIM)
  add_custom_target(example${mpi}_${name} ALL DEPENDS "${output}")
endfunction()
