#include "cli/run/elf_file.hpp"

#include <fcntl.h>
#include <gelf.h>

#include <cstring>
#include <memory>
#include <string_view>

#include "support/processes/child.hpp"

namespace nplus1::cli {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

std::string interpreter_of(Elf* elf) {
  std::size_t count = 0, size = 0;
  const char* bytes = elf_rawfile(elf, &size);
  if (bytes == nullptr || elf_getphdrnum(elf, &count) != 0) return {};
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment{};
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr || segment.p_type != PT_INTERP) continue;
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset) return {};
    const char* text = bytes + segment.p_offset;
    return {text, strnlen(text, segment.p_filesz)};
  }
  return {};
}

/// Whether the table of symbols has a function of that name with a body.
bool defines(Elf* elf, Elf_Scn* table, const GElf_Shdr& header, std::string_view wanted) {
  Elf_Data* const data = elf_getdata(table, nullptr);
  if (data == nullptr) return false;
  GElf_Sym symbol{};
  for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
    if (symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name != nullptr && name == wanted) return true;
  }
  return false;
}

bool defines(Elf* elf, std::string_view wanted) {
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const bool table = header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM;
    if (table && defines(elf, section, header, wanted)) return true;
  }
  return false;
}

std::vector<std::string> imported_by(Elf* elf) {
  std::vector<std::string> names;
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNSYM) continue;
    Elf_Data* const data = elf_getdata(section, nullptr);
    GElf_Sym symbol{};
    for (int i = 1; data != nullptr && gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (symbol.st_shndx == SHN_UNDEF && name != nullptr) names.emplace_back(name);
    }
  }
  return names;
}

}  // namespace

std::optional<ElfFacts> read_elf(const std::filesystem::path& file) {
  if (elf_version(EV_CURRENT) == EV_NONE) return std::nullopt;
  const processes::Descriptor descriptor{open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  const std::unique_ptr<Elf, EndElf> elf{elf_begin(descriptor.get(), ELF_C_READ_MMAP, nullptr)};
  GElf_Ehdr header{};
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) return std::nullopt;
  const char* ident = elf_getident(elf.get(), nullptr);
  if (ident == nullptr) return std::nullopt;
  ElfFacts facts;
  facts.is_64_bit = ident[EI_CLASS] == ELFCLASS64;
  facts.little_endian = ident[EI_DATA] == ELFDATA2LSB;
  if (!facts.is_64_bit || !facts.little_endian) return facts;
  if (gelf_getehdr(elf.get(), &header) == nullptr) return std::nullopt;
  facts.machine = header.e_machine;
  facts.interpreter = interpreter_of(elf.get());
  // With a P: a program with a profiling wrapper of its own defines MPI_Init too.
  facts.contains_mpi = defines(elf.get(), "PMPI_Init");
  for (const char* name : {"pmpi_init_", "pmpi_init_f08_", "mpi_init_f08_"})
    facts.binds_fortran = facts.binds_fortran || defines(elf.get(), name);
  facts.imported = imported_by(elf.get());
  return facts;
}

std::uint16_t own_machine() {
  const auto self = read_elf("/proc/self/exe");
  return self ? self->machine : EM_NONE;
}

}  // namespace nplus1::cli
