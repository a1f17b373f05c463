#include "stubs/runtime/capture/modules.hpp"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace nplus1::stubs {
namespace {

std::string real_path(const char* name) {
  char path[PATH_MAX];
  return realpath(*name == '\0' ? "/proc/self/exe" : name, path) == nullptr ? std::string{name}
                                                                            : std::string{path};
}

/// The GNU build id among the notes in [at, at + size).
std::string build_id(const char* at, std::size_t size) {
  const auto padded = [](std::size_t n) { return (n + 3) & ~std::size_t{3}; };
  for (const char* end = at + size; at + sizeof(ElfW(Nhdr)) <= end;) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof(note));
    const char* name = at + sizeof(note);
    const char* bytes = name + padded(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      std::string text(2 * note.n_descsz, '\0');
      for (std::size_t i = 0; i < note.n_descsz; ++i)
        std::snprintf(text.data() + 2 * i, 3, "%02x", static_cast<unsigned char>(bytes[i]));
      return text;
    }
    at = bytes + padded(note.n_descsz);
  }
  return {};
}

struct Search {
  std::uintptr_t address;
  Module found;
};

int look_at(dl_phdr_info* info, std::size_t /*size*/, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  std::uintptr_t begin = UINTPTR_MAX;
  std::uintptr_t end = 0;
  std::string id;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const std::uintptr_t at = info->dlpi_addr + header.p_vaddr;
    if (header.p_type != PT_LOAD) continue;
    begin = std::min(begin, at - header.p_vaddr % 4096);
    end = std::max(end, at + header.p_memsz);
  }
  if (search.address < begin || search.address >= end) return 0;
  for (int i = 0; i < info->dlpi_phnum && id.empty(); ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type == PT_NOTE)
      id = build_id(reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr), header.p_memsz);
  }
  const std::string path = real_path(info->dlpi_name);
  search.found = {begin, end, path, id, kind_of_module(path)};
  return 1;
}

bool contains_any(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view p) { return name.find(p) != std::string_view::npos; });
}

/// mpi4py's module, and what calls C functions by their names.
bool is_python_binding(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = std::string_view{path}.substr(slash == path.npos ? 0 : slash + 1);
  const std::string_view folder = std::string_view{path}.substr(0, slash == path.npos ? 0 : slash);
  const auto begins = [&](std::string_view with) { return name.substr(0, with.size()) == with; };
  const bool of_mpi4py = folder.size() >= 7 && folder.substr(folder.size() - 7) == "/mpi4py";
  return (of_mpi4py && begins("MPI.")) || begins("_ctypes.") || begins("_cffi_backend.") ||
         begins("libffi.so") || begins("libffi-");
}

}  // namespace

ModuleKind kind_of_module(const std::string& path) {
  const std::string_view name = std::string_view{path}.substr(path.rfind('/') + 1);
  for (const char* const ours : {"libnplus1-stubs.", "libnplus1-overlap."})
    if (name.rfind(ours, 0) == 0) return ModuleKind::kMpi;
  for (const char* const ucx : {"libucm.", "libucs.", "libuct.", "libucp."})  // MPICH's network library
    if (name.rfind(ucx, 0) == 0) return ModuleKind::kMpi;
  if (name.rfind("libc.so", 0) == 0 || name.rfind("libc-", 0) == 0) return ModuleKind::kSystem;
  // libmpich.so.12, libmpichfort.so.12, libmpi_cray.so.12, libmpi.so.40, libmpi_usempif08.so.40 ..., not an application's own
  // libmpi_something.
  const bool bindings = contains_any(name, {"fort", "cxx", "f77.", "f90.", "f08", "mpifh", "usempi"});
  const bool mpi = name.rfind("libmpi.", 0) == 0 || name.rfind("libmpich.", 0) == 0 ||
                   (name.rfind("libmpi", 0) == 0 && (bindings || contains_any(name, {".so.12"})));
  if (mpi) return ModuleKind::kMpi;
  return is_python_binding(path) ? ModuleKind::kPythonBinding : ModuleKind::kProgram;
}

const Module* Modules::find(const void* address) {
  Search search{reinterpret_cast<std::uintptr_t>(address), {}};
  for (const Module& m : modules_)
    if (search.address >= m.begin && search.address < m.end) return &m;
  if (dl_iterate_phdr(look_at, &search) == 0) return nullptr;
  modules_.push_back(std::move(search.found));
  return &modules_.back();
}

std::string Modules::place(const void* address) {
  const Module* module = find(address);
  if (module == nullptr) return "?";
  char offset[32];
  std::snprintf(offset, sizeof(offset), "+0x%zx", reinterpret_cast<std::uintptr_t>(address) - module->begin);
  return module->path + offset;
}

std::string Modules::frame(const void* address) {
  const Module* module = find(address);
  return module == nullptr || module->build_id.empty() ? place(address)
                                                       : place(address) + ' ' + module->build_id;
}

}  // namespace nplus1::stubs
