#include "stubs/runtime/launch/role.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace nplus1::stubs {
namespace {

/// A function of the C library, not the program's own of that name: bash brings a getenv and a setenv that forget what
/// is set before its main.
template <class Function>
Function* of_libc(const char* name) {
  void* const library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  void* found = library == nullptr ? nullptr : dlsym(library, name);
  return reinterpret_cast<Function*>(found != nullptr ? found : dlsym(RTLD_NEXT, name));
}

void unset(const char* name) {
  if (auto* const unset_it = of_libc<int(const char*)>("unsetenv")) unset_it(name);
}

bool is_same_file(std::string_view a, std::string_view b) {
  struct stat of_a {
  }, of_b{};
  return a == b || (stat(std::string{a}.c_str(), &of_a) == 0 && stat(std::string{b}.c_str(), &of_b) == 0 &&
                    of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);
}

/// What LD_PRELOAD names besides this library.
std::string without_us(const char* preloaded) {
  Dl_info self;
  std::string others;
  if (preloaded == nullptr || dladdr(reinterpret_cast<const void*>(&role), &self) == 0) return others;
  const std::string_view all{preloaded}, own{self.dli_fname};
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find_first_of(": ", begin), all.size());
    const std::string_view one = all.substr(begin, end - begin);
    if (!one.empty() && !is_same_file(one, own)) others.append(others.empty() ? "" : ":").append(one);
    begin = end + 1;
  }
  return others;
}

Transport transport_asked_for() {
  const char* text = std::getenv("NPLUS1_TRANSPORT");
  const std::string_view asked{text == nullptr ? "auto" : text};
  return asked == "tcp" ? Transport::kTcp : asked == "shm" ? Transport::kSharedMemory : Transport::kAny;
}

/// Settings that are asked for after the environment has forgotten them.
constinit Transport transport_wanted = Transport::kAny;
constinit bool output_is_named = false;
constinit bool wants_quiet = false;
constinit pid_t process = 0;

void read_settings() {
  process = getpid();
  transport_wanted = transport_asked_for();
  output_is_named = std::getenv("NPLUS1_OUTPUT") != nullptr;
  const char* quiet = std::getenv("NPLUS1_QUIET");
  wants_quiet = quiet != nullptr && *quiet != '0' && *quiet != '\0';
}

constinit Role decided = Role::kPassive;

__attribute__((constructor)) void set_up_process() {
  const int saved = errno;
  read_settings();
  const char* native = std::getenv("NPLUS1_NATIVE");
  decided = native != nullptr && std::strcmp(native, "1") == 0 ? Role::kNative : decide_role();
  errno = saved;
}

}  // namespace

std::optional<int> environment_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto parsed = std::from_chars(text, end, value);
  return parsed.ec == std::errc{} && parsed.ptr == end ? std::optional{value} : std::nullopt;
}

void set_variable(const char* name, const std::string& value) {
  if (auto* const set_it = of_libc<int(const char*, const char*, int)>("setenv"))
    set_it(name, value.c_str(), 1);
}

void say(const char* text) {
  std::fprintf(stderr, "nplus1: %s\n", text);
}

/// Said when asked for, and by one rank only, whatever launcher numbers them.
Role passive(const char* why) {
  const bool first = [] {
    for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}) {
      if (environment_number(name).value_or(0) != 0) return false;
    }
    return true;
  }();
  if (first && std::getenv("NPLUS1_VERBOSE") != nullptr) say(why);
  return Role::kPassive;
}

Role role() noexcept {
  return decided;
}

Transport wanted_transport() noexcept {
  return transport_wanted;
}

bool names_output_itself() noexcept {
  return output_is_named;
}

int own_process() noexcept {
  return process;
}

bool quiet() noexcept {
  return wants_quiet;
}

void forget_job_environment() {
  const std::string preloaded = without_us(std::getenv("LD_PRELOAD"));
  if (preloaded.empty())
    unset("LD_PRELOAD");
  else
    set_variable("LD_PRELOAD", preloaded);
  std::vector<std::string> names;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text{*variable};
    if (text.substr(0, 7) == "NPLUS1_") names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) unset(name.c_str());
}

}  // namespace nplus1::stubs
