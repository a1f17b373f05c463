// Which program or library an address belongs to, as a recording names it. Asked for addresses not seen
// before only: walks the list of loaded modules. Called with the runtime's lock held; nothing fails.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nplus1::stubs {

enum class ModuleKind : std::uint8_t {
  kProgram,  // the application's, and any library that is none of these
  kMpi,      // nplus1, the MPI library and its bindings for Fortran and C++: never where a call comes from
  kSystem,   // the C library: it calls main
  kPythonBinding,  // calls C for Python: the program's, where its Python frames cannot be read
};

struct Module {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::string path;      // absolute
  std::string build_id;  // hexadecimal; empty if it has none
  ModuleKind kind = ModuleKind::kProgram;
};

/// By its file name.
[[nodiscard]] ModuleKind kind_of_module(const std::string& path);

class Modules {
 public:
  /// The module that `address` lies in; null if there is none (generated code).
  [[nodiscard]] const Module* find(const void* address);
  /// "PATH+0xOFFSET", "?" if unknown.
  [[nodiscard]] std::string place(const void* address);
  /// place(), a space, and the build id.
  [[nodiscard]] std::string frame(const void* address);

 private:
  std::vector<Module> modules_;
};

}  // namespace nplus1::stubs
