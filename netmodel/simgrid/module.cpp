// What the loader (load.cpp) finds in the module libnplus1-simgrid.so. One compiler builds both sides, so C++
// types may cross.
#include "netmodel/simgrid/module.hpp"

#include <exception>

#include "netmodel/simgrid/check.hpp"
#include "netmodel/simgrid/simgrid_network.hpp"

extern "C" __attribute__((visibility("default"))) void nplus1_simgrid_network(
    const nplus1::netmodel::PlatformOptions* options,
    nplus1::Result<std::unique_ptr<nplus1::netmodel::NetworkModel>>* result) {
  try {
    *result = nplus1::netmodel::make_simgrid_network(*options);
  } catch (const std::exception& error) {
    *result = nplus1::Error{error.what(), "nplus1 doctor --platform FILE checks a platform."};
  }
}

extern "C" __attribute__((visibility("default"))) void nplus1_simgrid_check(
    const nplus1::netmodel::PlatformOptions* options,
    nplus1::Result<nplus1::netmodel::PlatformReport>* result) {
  *result = nplus1::netmodel::check_simgrid_platform(*options);
}
