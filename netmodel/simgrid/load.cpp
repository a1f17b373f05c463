#include "netmodel/simgrid/load.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "netmodel/simgrid/module.hpp"
#include "netmodel/simgrid/module_file.hpp"
#include "netmodel/text.hpp"

namespace nplus1::netmodel {
namespace fs = std::filesystem;
namespace {

/// The folder of the library that this code is in: of libnplus1.so, if a program of others has linked that.
fs::path own_folder() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &here) == 0 || here.dli_fname == nullptr) return {};
  return fs::path{here.dli_fname}.parent_path();
}

/// Beside the program: BUILD/bin and BUILD/lib, or PREFIX/bin and PREFIX/LIBDIR/nplus1. Or beside the library.
fs::path module_path() {
  if (const char* set = std::getenv("NPLUS1_SIMGRID_MODULE"); set != nullptr && *set != '\0') return set;
  std::error_code error;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  for (const char* folder : {"lib", NPLUS1_LIBDIR "/nplus1", "../lib"}) {
    const fs::path candidate = prefix / folder / "libnplus1-simgrid.so";
    if (fs::exists(candidate, error)) return candidate;
  }
  for (const char* folder : {"nplus1", "."}) {
    const fs::path candidate = own_folder() / folder / "libnplus1-simgrid.so";
    if (fs::exists(candidate, error)) return candidate;
  }
  return "libnplus1-simgrid.so";
}

}  // namespace

Result<void*> module_function(const char* name) {
  if (dlsym(RTLD_DEFAULT, "MPI_Init") != nullptr) {
    return Error{"this process has an MPI library; SimGrid brings one of its own, and the two clash",
                 "Simulate platforms in a process without MPI (the simulator, or nplus1 replay)."};
  }
  const std::string path = module_path().string();
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* function = module == nullptr ? nullptr : dlsym(module, name);
  if (function != nullptr) return function;
  const char* reason = dlerror();
  return Error{"platforms can't be simulated: " + std::string{reason == nullptr ? path : reason},
               "Install SimGrid (apt-get install libsimgrid3.32) and build everything, or set "
               "NPLUS1_SIMGRID_MODULE."};
}

Result<std::unique_ptr<NetworkModel>> load_platform(const PlatformOptions& options) {
  const auto function = module_function(kSimgridNetworkEntry);
  if (!function) return function.error();
  Result<std::unique_ptr<NetworkModel>> result{std::unique_ptr<NetworkModel>{}};
  reinterpret_cast<Nplus1SimgridNetwork*>(function.value())(&options, &result);
  return result;
}

}  // namespace nplus1::netmodel
