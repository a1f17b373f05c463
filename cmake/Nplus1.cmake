# Helpers that every folder's CMakeLists.txt uses.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
# Where tools/package.sh puts the libraries that an archive brings with it; an installation has no such folder. DT_RPATH,
# since what those libraries load themselves lies there, too.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/nplus1/private")
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
add_link_options(LINKER:--disable-new-dtags)
find_package(Threads REQUIRED)

option(NPLUS1_TESTS "Build tests and benchmarks too (needs GoogleTest; users and packagers need neither)" ON)
if(NPLUS1_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark)
endif()

option(NPLUS1_WERROR "Treat warnings as errors (developer presets)" OFF)
add_library(nplus1_options INTERFACE)
add_library(nplus1::options ALIAS nplus1_options)
target_include_directories(nplus1_options INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/generated")
target_compile_options(nplus1_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual>
  # GCC 12 warns falsely about string concatenation (GCC bug 105651).
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>
  $<$<BOOL:${NPLUS1_WERROR}>:-Werror>)

# Counts which lines run (tools/coverage.sh). The preloaded library defines _exit() itself and counts there.
option(NPLUS1_COVERAGE "Write gcov's counters when a process ends" OFF)
if(NPLUS1_COVERAGE)
  set(not_the_stubs $<NOT:$<STREQUAL:$<TARGET_PROPERTY:NAME>,nplus1-stubs>>)
  target_compile_definitions(nplus1_options INTERFACE NPLUS1_COVERAGE)
  target_compile_options(nplus1_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:--coverage -fprofile-update=atomic
    -fprofile-abs-path>
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,${not_the_stubs}>:SHELL:-include \"${PROJECT_SOURCE_DIR}/tools/coverage/exits.hpp\">")
  target_link_options(nplus1_options INTERFACE --coverage)
endif()

# Several sources compiled as one take less than half the time to build, and more to rebuild after a change: for users
# and continuous integration (tools/build.sh), not for development. Names in unnamed namespaces must then be unique in
# a target; a source for which that makes no sense opts out with SKIP_UNITY_BUILD_INCLUSION.
option(NPLUS1_UNITY "Compile the sources of each target in batches" OFF)
set(CMAKE_UNITY_BUILD ${NPLUS1_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
# Of libraries more go into a batch than of tests: each batch parses the same headers and instantiates the same templates
# again. With 28 no compiler takes more than 1.5 GB (docs/benchmarks.md, Building).
set(NPLUS1_UNITY_BATCH 28 CACHE STRING "Sources of a library that are compiled together at most")

# nplus1_large_batches(targets...): batches of NPLUS1_UNITY_BATCH sources.
function(nplus1_large_batches)
  set_target_properties(${ARGN} PROPERTIES UNITY_BUILD_BATCH_SIZE ${NPLUS1_UNITY_BATCH})
endfunction()

# nplus1_lightly_optimised(targets...): -O1 in releases. For what parses, prints, or calls what computes, and for tests:
# optimising the templates of other libraries takes up to a third of a build and gains nothing there.
function(nplus1_lightly_optimised)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  endforeach()
endfunction()

# nplus1_library(name sources... [DEPENDS targets...]): static library nplus1_<name>, alias nplus1::<name>.
# Without sources it is an interface library. Built when something that is built links it: what only tests link takes
# no time where there are none.
function(nplus1_library name)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  set(target nplus1_${name})
  if(arg_UNPARSED_ARGUMENTS)
    add_library(${target} STATIC EXCLUDE_FROM_ALL ${arg_UNPARSED_ARGUMENTS})
    target_link_libraries(${target} PUBLIC nplus1::options ${arg_DEPENDS})
    nplus1_large_batches(${target})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE nplus1::options ${arg_DEPENDS})
  endif()
  add_library(nplus1::${name} ALIAS ${target})
endfunction()

# nplus1_unit_test(name sources... [DEPENDS targets...] [DEFINITIONS definitions...] [MODULES targets...]): a GoogleTest
# program, its tests labelled `unit`; MODULES are loaded while it runs. With NPLUS1_TESTS off, nothing.
include(GoogleTest)
function(nplus1_unit_test name)
  cmake_parse_arguments(arg "" "" "DEPENDS;DEFINITIONS;MODULES" ${ARGN})
  if(NOT NPLUS1_TESTS)
    return()
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE nplus1::options GTest::gtest_main ${arg_DEPENDS})
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS})
  nplus1_lightly_optimised(${name})
  if(arg_MODULES)
    add_dependencies(${name} ${arg_MODULES})
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}." PROPERTIES LABELS unit TIMEOUT 60)
endfunction()

# nplus1_benchmark(name sources... [DEPENDS targets...]): a Google Benchmark program; never a test.
function(nplus1_benchmark name)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  if(benchmark_FOUND)
    add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
    target_link_libraries(${name} PRIVATE nplus1::options benchmark::benchmark_main ${arg_DEPENDS})
  endif()
endfunction()
