// Where in the source an address of a program or library is: function, file and line from its DWARF (libdw),
// inlined functions included. Reads each module once, when it is first asked about; nothing is downloaded.
// What a module does not tell stays empty. Single-threaded.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "events/definitions.hpp"

namespace nplus1::events::source {

class SourceLines {
 public:
  SourceLines();
  ~SourceLines();

  /// "function (file.c:12)" for the call that returns to `offset` bytes into the loaded image of `module` (a
  /// path); "function (module+0x1a2b)" or "module+0x1a2b" where the module tells less.
  [[nodiscard]] std::string call_returning_to(const std::string& module, std::uint64_t offset);
  /// The same of a frame, whose source may be known already; empty where nothing is.
  [[nodiscard]] std::string call_from(const events::Frame& frame);
  /// `frame` with function, file and line. Where inlining has put several calls there, a frame for each,
  /// innermost first, with the same offset.
  [[nodiscard]] std::vector<events::Frame> resolve(const events::Frame& frame);
  [[nodiscard]] events::CallPath resolve(const events::CallPath& path);
  /// The function at "MODULE+0xOFFSET", or the text itself.
  [[nodiscard]] std::string function_at(const std::string& place);

 private:
  class Module;
  Module& module(const std::string& path);

  std::map<std::string, std::unique_ptr<Module>> modules_;
};

}  // namespace nplus1::events::source
