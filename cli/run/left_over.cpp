#include "cli/run/left_over.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kKeeper = "nplus1-keeper";  // stubs/runtime/launch/keeper_pair.cpp

struct Process {
  pid_t parent = 0;
  std::string name;
};

/// Nothing of what has ended. proc(5): "PID (NAME) STATE PARENT ...", and NAME may have anything in it.
std::optional<Process> read_process(const fs::path& folder) {
  std::ifstream file{folder / "stat"};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const std::size_t begin = text.find('('), end = text.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return std::nullopt;
  std::istringstream rest{text.substr(end + 1)};
  char state = 'Z';
  Process process{0, text.substr(begin + 1, end - begin - 1)};
  rest >> state >> process.parent;
  if (!rest || state == 'Z' || state == 'X') return std::nullopt;
  return process;
}

std::map<pid_t, Process> all_processes() {
  std::map<pid_t, Process> all;
  std::error_code error;
  for (fs::directory_iterator at{"/proc", error}, end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec != std::errc{} || parsed.ptr != name.data() + name.size()) continue;
    if (auto process = read_process(at->path())) all.emplace(pid, *std::move(process));
  }
  return all;
}

/// The kernel keeps 15 letters of a name.
bool starts_others(const Process& process) {
  return process.name == "hydra_pmi_proxy" || process.name == "orted";
}

}  // namespace

bool has_processes_of_the_job(pid_t mpirun) {
  const auto all = all_processes();
  std::vector<pid_t> waiting{mpirun};
  while (!waiting.empty()) {
    const pid_t parent = waiting.back();
    waiting.pop_back();
    for (const auto& [pid, process] : all) {
      if (process.parent != parent) continue;
      if (!starts_others(process)) return true;
      waiting.push_back(pid);
    }
  }
  return false;
}

std::vector<RunningProcess> adopted(const std::vector<pid_t>& own) {
  std::vector<RunningProcess> found;
  for (const auto& [pid, process] : all_processes())
    if (process.parent == getpid() && std::find(own.begin(), own.end(), pid) == own.end() &&
        process.name != kKeeper)
      found.push_back({pid, process.name});
  return found;
}

}  // namespace nplus1::cli
