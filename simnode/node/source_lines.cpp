#include "simnode/node/source_lines.hpp"

#include <elfutils/libdwfl.h>
#include <fmt/format.h>

namespace nplus1::simnode::node {
namespace {

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

Dwfl_Callbacks offline() {
  Dwfl_Callbacks callbacks{};
  callbacks.find_elf = dwfl_build_id_find_elf;
  callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
  callbacks.section_address = dwfl_offline_section_address;
  return callbacks;
}

}  // namespace

class SourceLines::Module {
 public:
  explicit Module(const std::string& path) : session_{dwfl_begin(&callbacks_)} {
    if (session_ == nullptr) return;
    module_ = dwfl_report_offline(session_, path.c_str(), path.c_str(), -1);
    dwfl_report_end(session_, nullptr, nullptr);
    if (module_ != nullptr)
      dwfl_module_info(module_, nullptr, &start_, nullptr, nullptr, nullptr, nullptr, nullptr);
  }
  ~Module() {
    if (session_ != nullptr) dwfl_end(session_);
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  [[nodiscard]] std::string function(std::uint64_t offset) const {
    const char* name = module_ == nullptr ? nullptr : dwfl_module_addrname(module_, start_ + offset);
    return name == nullptr ? std::string{} : std::string{name};
  }
  /// "file.c:12"; empty if unknown.
  [[nodiscard]] std::string line(std::uint64_t offset) const {
    Dwfl_Line* found = module_ == nullptr ? nullptr : dwfl_module_getsrc(module_, start_ + offset);
    int number = 0;
    const char* file =
        found == nullptr ? nullptr : dwfl_lineinfo(found, nullptr, &number, nullptr, nullptr, nullptr);
    return file == nullptr ? std::string{} : fmt::format("{}:{}", file_name(file), number);
  }

 private:
  Dwfl_Callbacks callbacks_ = offline();
  Dwfl* session_;
  Dwfl_Module* module_ = nullptr;
  Dwarf_Addr start_ = 0;
};

SourceLines::SourceLines() = default;
SourceLines::~SourceLines() = default;

std::string SourceLines::call_returning_to(const std::string& module, std::uint64_t offset) {
  std::unique_ptr<Module>& known = modules_[module];
  if (!known) known = std::make_unique<Module>(module);
  // The call itself lies before its return address, and may be the last thing on its line.
  const std::uint64_t call = offset == 0 ? 0 : offset - 1;
  const std::string line = known->line(call);
  const std::string function = known->function(call);
  const std::string place = line.empty() ? fmt::format("{}+{:#x}", file_name(module), offset) : line;
  return function.empty() ? place : fmt::format("{} ({})", function, place);
}

}  // namespace nplus1::simnode::node
