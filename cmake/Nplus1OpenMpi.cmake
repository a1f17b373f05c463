# Open MPI, beside MPICH, where its compiler wrapper is: its headers as the target nplus1_open_mpi_headers, and
# NPLUS1_OPENMPI_LIBRARY, which is false where it is not there.
include_guard(GLOBAL)
find_program(NPLUS1_OPENMPI_CXX mpicxx.openmpi)
if(NPLUS1_OPENMPI_CXX)
  execute_process(COMMAND "${NPLUS1_OPENMPI_CXX}" --showme:incdirs OUTPUT_VARIABLE open_mpi_includes
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${NPLUS1_OPENMPI_CXX}" --showme:libdirs OUTPUT_VARIABLE open_mpi_folders
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(open_mpi_includes UNIX_COMMAND "${open_mpi_includes}")
  separate_arguments(open_mpi_folders UNIX_COMMAND "${open_mpi_folders}")
  find_library(NPLUS1_OPENMPI_LIBRARY mpi PATHS ${open_mpi_folders} NO_DEFAULT_PATH)
  find_file(NPLUS1_OPENMPI_HEADER mpi.h PATHS ${open_mpi_includes} NO_DEFAULT_PATH)
endif()
if(NPLUS1_OPENMPI_LIBRARY)
  add_library(nplus1_open_mpi_headers INTERFACE)
  target_include_directories(nplus1_open_mpi_headers SYSTEM INTERFACE ${open_mpi_includes})
  target_compile_definitions(nplus1_open_mpi_headers INTERFACE OMPI_SKIP_MPICXX
    OMPI_OMIT_MPI1_COMPAT_DECLS=0)  # what MPI 3 has removed is still there
else()
  message(STATUS "Open MPI (mpicxx.openmpi) was not found: nplus1 is built for MPICH's programs only")
endif()
