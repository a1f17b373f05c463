#include "stubs/runtime/capture/modules.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

namespace nplus1::stubs {
namespace {

void here() {}

const void* my_address() {
  return reinterpret_cast<const void*>(&here);
}

TEST(Modules, KnowTheMpiLibrariesAndTheirBindingsByName) {
  for (const char* name :
       {"/usr/lib/libmpich.so.12", "/usr/lib/libmpichfort.so.12", "/opt/lib/libmpi.so.40",
        "/opt/lib/libmpi_usempif08.so.40", "/opt/lib/libmpi_mpifh.so.40", "libmpichcxx.so.12",
        "/opt/lib/libmpi.so.12", "/opt/lib/libmpi_gnu_91.so.12", "/x/libnplus1-stubs.so"})
    EXPECT_EQ(kind_of_module(name), ModuleKind::kMpi) << name;
  for (const char* name : {"/home/u/libmpi_helpers.so", "/home/u/app", "/home/libmpich/app", "libcomm.so"})
    EXPECT_EQ(kind_of_module(name), ModuleKind::kProgram) << name;
  EXPECT_EQ(kind_of_module("/lib/x86_64-linux-gnu/libc.so.6"), ModuleKind::kSystem);
  for (const char* name :
       {"/usr/lib/python3/dist-packages/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so", "/v/mpi4py/MPI.abi3.so",
        "/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so", "/usr/lib/libffi.so.8",
        "/v/_cffi_backend.cpython-311-x86_64-linux-gnu.so"})
    EXPECT_EQ(kind_of_module(name), ModuleKind::kPythonBinding) << name;
  for (const char* name : {"/home/u/MPI.so", "/v/mpi4py_fft/MPI.abi3.so", "/usr/lib/libpython3.11.so.1.0",
                           "/usr/bin/python3.11"})
    EXPECT_EQ(kind_of_module(name), ModuleKind::kProgram) << name;
}

// The dynamic linker's own tables are the oracle.
TEST(Modules, PlaceAnAddressRelativeToItsImage) {
  Dl_info info{};
  ASSERT_NE(dladdr(my_address(), &info), 0);
  char offset[40];
  std::snprintf(offset, sizeof(offset), "+0x%zx",
                static_cast<std::size_t>(static_cast<const char*>(my_address()) -
                                         static_cast<const char*>(info.dli_fbase)));
  Modules modules;
  EXPECT_EQ(modules.place(my_address()), std::filesystem::canonical("/proc/self/exe").string() + offset);
}

TEST(Modules, AddTheBuildIdWhereThereIsOne) {
  Modules modules;
  const Module* mine = modules.find(my_address());
  ASSERT_NE(mine, nullptr);
  EXPECT_EQ(modules.frame(my_address()),
            modules.place(my_address()) + (mine->build_id.empty() ? "" : " " + mine->build_id));
  const Module* library = modules.find(reinterpret_cast<const void*>(&std::fopen));
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(library->build_id.size() % 2, 0u);
}

TEST(Modules, SayThatTheyDoNotKnowGeneratedCode) {
  Modules modules;
  EXPECT_EQ(modules.find(nullptr), nullptr);
  EXPECT_EQ(modules.place(nullptr), "?");
  EXPECT_EQ(modules.frame(nullptr), "?");
}

}  // namespace
}  // namespace nplus1::stubs
