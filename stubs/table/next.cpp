#include "stubs/table/next.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "stubs/guard/guard.hpp"
#include "stubs/table/library_of.hpp"

namespace nplus1::stubs::pmpi {

namespace {

/// MPICH's ABI goes by several names: libmpich.so.12 (Debian), libmpi.so.12 (MPICH, Intel MPI, MVAPICH), libmpi_cray.so.12
/// and the like.
bool is_of_this_abi(std::string_view library) noexcept {
  constexpr std::string_view kOurs = NPLUS1_MPI_SONAME, kFamily = ".so.12";
  return library == kOurs || (kOurs.ends_with(kFamily) && library.starts_with("libmpi") &&
                              library.find(kFamily) != std::string_view::npos);
}

int note_library(dl_phdr_info* info, std::size_t, void* paths) {
  const std::string_view path = info->dlpi_name;
  if (is_of_this_abi(path.substr(path.rfind('/') + 1)))
    static_cast<std::vector<std::string>*>(paths)->emplace_back(path);
  return 0;
}

/// The global scope is not all there is. RTLD_NOLOAD: never bring an MPI library into a program without one.
void* in_local_library(const char* name) noexcept {
  std::vector<std::string> paths{NPLUS1_MPI_SONAME};
  dl_iterate_phdr(note_library, &paths);
  for (const std::string& path : paths)
    if (void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD))
      if (void* found = dlsym(library, name)) return found;
  return nullptr;
}

struct Imports {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * relocations = nullptr;
  std::size_t bytes = 0;

  [[nodiscard]] bool has_a(std::string_view beginning) const noexcept {
    for (std::size_t i = 0; i < bytes / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(relocations[i].r_info)];
      if (symbol.st_shndx == SHN_UNDEF && std::string_view{names + symbol.st_name}.starts_with(beginning))
        return true;
    }
    return false;
  }
};

/// Whether `library` calls functions of the profiling interface that are not its own, by a table or through pointers.
bool calls_pmpi(const link_map& library) noexcept {
  Imports called, pointed_at;
  for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
    const auto address = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) called.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) called.names = reinterpret_cast<const char*>(address);
    if (entry->d_tag == DT_JMPREL) called.relocations = reinterpret_cast<const ElfW(Rela)*>(address);
    if (entry->d_tag == DT_PLTRELSZ) called.bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_RELA) pointed_at.relocations = reinterpret_cast<const ElfW(Rela)*>(address);
    if (entry->d_tag == DT_RELASZ) pointed_at.bytes = entry->d_un.d_val;
  }
  pointed_at.symbols = called.symbols;
  pointed_at.names = called.names;
  return called.has_a("PMPI_") || pointed_at.has_a("PMPI_");
}

constexpr const char* kMpich = "MPICH";
constexpr const char* kOpenMpi = "Open MPI";
constexpr bool kIsForOpenMpi = !std::string_view{NPLUS1_MPI_SONAME}.ends_with(".so.12");
constexpr const char* kOurs = kIsForOpenMpi ? kOpenMpi : kMpich;

/// Whose MPI library this is, which may not be there; null: nobody knows.
const char* maker_of(const char* path) noexcept {
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  if (dlsym(library, "ompi_mpi_comm_world") != nullptr) return kOpenMpi;
  return dlsym(library, "MPIR_Err_return_comm") != nullptr ? kMpich : nullptr;
}

struct MpiOfProgram {
  const char* maker = nullptr;
  std::string path;
};

int note_any_mpi(dl_phdr_info* info, std::size_t, void* found) {
  const std::string_view path = info->dlpi_name, name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with("libmpi.so") && !name.starts_with("libmpich.so")) return 0;
  static_cast<MpiOfProgram*>(found)->path = path;
  return 1;
}

/// The library that defines `function`, or where nobody does, one that is only known to who has opened it.
MpiOfProgram mpi_of_program(const void* function) noexcept {
  MpiOfProgram library;
  Dl_info found{};
  if (function == nullptr)
    dl_iterate_phdr(note_any_mpi, &library);
  else if (dladdr(function, &found) != 0 && found.dli_fname != nullptr)
    library.path = found.dli_fname;
  library.maker = maker_of(library.path.c_str());
  return library;
}

bool is_another(const MpiOfProgram& library) noexcept {
  return library.maker != nullptr && library.maker != std::string_view{kOurs};
}

/// The job was started for the other MPI library than its program has, as a script may, or Python, of which nobody knows
/// from outside. Its ranks would not find each other, and what is a handle to one library is none to the other: it ends
/// before anything is called.
void end_if_of_another_mpi(const void* function) noexcept {
  const MpiOfProgram library = mpi_of_program(function);
  if (!is_another(library)) return;
  std::fprintf(
      stderr,
      "nplus1: the program's MPI library is of %s (%s), and the job was started for %s\n"
      "  so:   it can't be observed, and ends before its first call\n"
      "  next: say so: nplus1 run --mpi %s ...; or put `nplus1 run --` before a line that begins with that "
      "library's mpirun\n",
      library.maker, library.path.c_str(), kOurs, kIsForOpenMpi ? "mpich" : "openmpi");
  _exit(65);  // as `nplus1 run` ends where it can know
}

}  // namespace

void* next_symbol(const char* name) noexcept {
  void* found = dlsym(RTLD_NEXT, name);
  return found != nullptr ? found : in_local_library(name);
}

bool is_of_another_mpi(const void* function) noexcept {
  return is_another(mpi_of_program(function));
}

void* variable(const char* name) noexcept {
  void* found = dlsym(RTLD_DEFAULT, name);
  return found != nullptr ? found : in_local_library(name);
}

namespace detail {

constinit std::array<std::atomic<void*>, events::kMpiCalls> functions{}, profilers{};

void note_callback_threw() noexcept {
  call_state.foreign = true;
}

void* resolve(events::MpiCall call) noexcept {
  std::string symbol{"P"};
  symbol += events::name(call);
  void* found = next_symbol(symbol.c_str());
  static std::atomic<bool> is_known{false};
  if (found == nullptr || !is_known.exchange(true, std::memory_order_relaxed)) end_if_of_another_mpi(found);
  if (found == nullptr) {
    std::fprintf(stderr,
                 "nplus1: no library of this program defines %s; build nplus1 against the program's MPI\n",
                 symbol.c_str());
    _exit(127);
  }
  functions[events::index(call)].store(found, std::memory_order_relaxed);
  return found;
}

/// A library before the MPI library that has MPI_X and calls the profiling interface. One that looks for the next MPI_X by
/// itself is passed over: nothing that it calls would be observed.
void* look_for_profiler(events::MpiCall call) noexcept {
  char of_library[128] = "P";  // PMPI_X; no memory is needed, which may not be there
  const std::string_view name = events::name(call);
  void* answer = kNobody;
  if (name.size() + 2 <= sizeof(of_library)) {
    name.copy(of_library + 1, name.size());
    void* found = dlsym(RTLD_NEXT, of_library + 1);
    const void* native = dlsym(RTLD_NEXT, of_library);
    const link_map* library = found == nullptr || native == nullptr ? nullptr : library_of(found);
    if (library != nullptr && library != library_of(native) && calls_pmpi(*library)) answer = found;
  }
  profilers[events::index(call)].store(answer, std::memory_order_relaxed);
  return answer;
}

}  // namespace detail
}  // namespace nplus1::stubs::pmpi
