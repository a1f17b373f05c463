// Where in the source an address of a program or library is: function, file and line from its DWARF (libdw).
// Reads each module once, when it is first asked about; nothing is downloaded. Single-threaded.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace nplus1::simnode::node {

class SourceLines {
 public:
  SourceLines();
  ~SourceLines();

  /// "function (file.c:12)" for the call that returns to `offset` bytes into the loaded image of `module` (a
  /// path); "function (module+0x1a2b)" or "module+0x1a2b" where the module tells less.
  [[nodiscard]] std::string call_returning_to(const std::string& module, std::uint64_t offset);

 private:
  class Module;
  std::map<std::string, std::unique_ptr<Module>> modules_;
};

}  // namespace nplus1::simnode::node
