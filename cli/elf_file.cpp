#include "cli/elf_file.hpp"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

namespace nplus1::cli {
namespace {

/// Bounds-checked reads at absolute offsets: a damaged file yields nothing, never more than it holds.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : stream_{file, std::ios::binary} {
    stream_.seekg(0, std::ios::end);
    size_ = stream_ ? static_cast<std::uint64_t>(stream_.tellg()) : 0;
  }

  template <class T>
  bool read(std::uint64_t offset, T* into, std::uint64_t number = 1) {
    if (offset > size_ || number > (size_ - offset) / sizeof(T)) return false;
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(reinterpret_cast<char*>(into), static_cast<std::streamsize>(number * sizeof(T)));
    return static_cast<bool>(stream_);
  }

  template <class T>
  std::vector<T> read_all(std::uint64_t offset, std::uint64_t number) {
    if (offset > size_ || number > (size_ - offset) / sizeof(T)) return {};
    std::vector<T> items(number);
    return read(offset, items.data(), number) ? items : std::vector<T>{};
  }

 private:
  std::ifstream stream_;
  std::uint64_t size_ = 0;
};

std::string interpreter_of(Reader& reader, const Elf64_Ehdr& header) {
  for (const auto& segment : reader.read_all<Elf64_Phdr>(header.e_phoff, header.e_phnum)) {
    if (segment.p_type != PT_INTERP) continue;
    const auto text = reader.read_all<char>(segment.p_offset, segment.p_filesz);
    return {text.data(), strnlen(text.data(), text.size())};
  }
  return {};
}

bool defines(const std::vector<Elf64_Sym>& symbols, const std::vector<char>& names, std::string_view wanted) {
  for (const Elf64_Sym& symbol : symbols) {
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    if (symbol.st_name >= names.size()) continue;
    const char* name = names.data() + symbol.st_name;
    if (std::string_view{name, strnlen(name, names.size() - symbol.st_name)} == wanted) return true;
  }
  return false;
}

/// PMPI_Init, not MPI_Init: a program with a profiling wrapper of its own defines MPI_Init too.
bool contains_mpi(Reader& reader, const Elf64_Ehdr& header) {
  const auto sections = reader.read_all<Elf64_Shdr>(header.e_shoff, header.e_shnum);
  for (const Elf64_Shdr& section : sections) {
    const bool table = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM;
    if (!table || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    const auto names = reader.read_all<char>(strings.sh_offset, strings.sh_size);
    const auto symbols = reader.read_all<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
    if (defines(symbols, names, "PMPI_Init")) return true;
  }
  return false;
}

}  // namespace

std::optional<ElfFacts> read_elf(const std::filesystem::path& file) {
  Reader reader{file};
  Elf64_Ehdr header{};
  unsigned char ident[EI_NIDENT]{};
  if (!reader.read(0, ident, EI_NIDENT) || std::memcmp(ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  ElfFacts facts;
  facts.is_64_bit = ident[EI_CLASS] == ELFCLASS64;
  facts.little_endian = ident[EI_DATA] == ELFDATA2LSB;
  if (!facts.is_64_bit || !facts.little_endian) return facts;
  if (!reader.read(0, &header)) return std::nullopt;
  facts.machine = header.e_machine;
  facts.interpreter = interpreter_of(reader, header);
  facts.contains_mpi = contains_mpi(reader, header);
  return facts;
}

std::uint16_t own_machine() {
  const auto self = read_elf("/proc/self/exe");
  return self ? self->machine : EM_NONE;
}

}  // namespace nplus1::cli
