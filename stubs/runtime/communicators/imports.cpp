#include "stubs/runtime/communicators/imports.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>

namespace nplus1::stubs {
namespace {

struct Search {
  std::initializer_list<std::string_view> names;
  bool found = false;
};

/// The dynamic symbols of a module that it does not define are the first ones: GNU's hash table begins behind them.
struct Symbols {
  const ElfW(Sym) * all = nullptr;
  const char* texts = nullptr;
  std::uint32_t undefined = 0;
};

Symbols symbols_of(const dl_phdr_info& module) {
  Symbols symbols;
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    if (module.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(module.dlpi_addr + module.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_un.d_ptr < module.dlpi_addr)
        continue;  // the kernel's own, which the loader does not adjust
      if (entry->d_tag == DT_SYMTAB) symbols.all = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_STRTAB) symbols.texts = reinterpret_cast<const char*>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_GNU_HASH)
        symbols.undefined = reinterpret_cast<const std::uint32_t*>(entry->d_un.d_ptr)[1];
      if (entry->d_tag == DT_HASH)
        symbols.undefined =
            std::max(symbols.undefined, reinterpret_cast<const std::uint32_t*>(entry->d_un.d_ptr)[1]);
    }
  }
  return symbols;
}

bool is_of_mpi(std::string_view path) {
  return path.substr(path.rfind('/') + 1).starts_with("libmpi");
}

int look(dl_phdr_info* module, std::size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  if (is_of_mpi(module->dlpi_name)) return 0;
  const Symbols symbols = symbols_of(*module);
  if (symbols.all == nullptr || symbols.texts == nullptr) return 0;
  for (std::uint32_t i = 0; i < symbols.undefined; ++i) {
    if (symbols.all[i].st_shndx != SHN_UNDEF) continue;
    const std::string_view name{symbols.texts + symbols.all[i].st_name};
    search.found =
        search.found || std::find(search.names.begin(), search.names.end(), name) != search.names.end();
  }
  return search.found ? 1 : 0;
}

}  // namespace

bool program_imports(std::initializer_list<std::string_view> names) {
  Search search{names};
  dl_iterate_phdr(look, &search);
  return search.found;
}

}  // namespace nplus1::stubs
