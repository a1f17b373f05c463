#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <sstream>

#include "netmodel/simgrid/load.hpp"
#include "netmodel/simgrid/module.hpp"
#include "netmodel/simgrid/module_file.hpp"
#include "netmodel/text.hpp"

namespace nplus1::netmodel {
namespace {

constexpr const char* kRemedy = "Correct the platform or its options; platforms/ has examples that work.";
constexpr char kSeparator = '\0';  // between the words of a child's answer, at the end of what it says

/// The child's part: "ok" or "bad" and what it found out, after what SimGrid had to say.
[[noreturn]] void answer(const PlatformOptions& options, int out) {
  rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  dup2(out, STDERR_FILENO);
  dup2(out, STDOUT_FILENO);
  std::string text{kSeparator};
  const auto function = module_function(kSimgridCheckEntry);
  if (function) {
    Result<PlatformReport> result{PlatformReport{}};
    reinterpret_cast<Nplus1SimgridCheck*>(function.value())(&options, &result);
    if (result) {
      const PlatformReport& r = result.value();
      text += "ok" + std::string{kSeparator} + std::to_string(r.hosts) + ' ' + std::to_string(r.links) + ' ' +
              std::to_string(r.routes);
    } else {
      text += "bad" + std::string{kSeparator} + result.error().what + kSeparator + result.error().remedy;
    }
  } else {
    text += "bad" + std::string{kSeparator} + function.error().what + kSeparator + function.error().remedy;
  }
  [[maybe_unused]] const ssize_t written = write(out, text.data(), text.size());
  _exit(0);  // SimGrid's own end may crash, and tells nothing
}

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(fd, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

/// Without SimGrid's prefix "[12.345] file.cpp:67: [channel/CRITICAL] ".
std::string without_prefix(const std::string& line) {
  const std::size_t level = line.find("/CRITICAL] ");
  return level == std::string::npos ? line : line.substr(level + std::strlen("/CRITICAL] "));
}

/// SimGrid's first critical line, else its first line.
std::string first_complaint(const std::string& said) {
  std::istringstream lines{said};
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("CRITICAL") != std::string::npos) return without_prefix(line);
    if (first.empty()) first = line;
  }
  return first;
}

/// SimGrid explains at length; its first line has the cause.
std::string first_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

Error rejected(const PlatformOptions& options, const std::string& why, const std::string& remedy) {
  const std::string line = first_line(why);
  const bool names_file = line.find(options.file) != std::string::npos;
  return {names_file ? line : options.file + ": " + line, remedy.empty() ? kRemedy : remedy};
}

Result<PlatformReport> understood(const PlatformOptions& options, const std::string& said, int status) {
  const std::size_t begin = said.find(kSeparator);
  if (begin == std::string::npos) {
    const std::string why = first_complaint(said);
    const std::string how = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended early";
    return rejected(options, why.empty() ? "SimGrid rejects it without a word (" + how + ")" : why, "");
  }
  std::istringstream words{said.substr(begin + 1)};
  std::string verdict;
  std::string what;
  std::string remedy;
  std::getline(words, verdict, kSeparator);
  std::getline(words, what, kSeparator);
  std::getline(words, remedy, kSeparator);
  if (verdict != "ok") return rejected(options, what, remedy);
  PlatformReport report;
  std::istringstream{what} >> report.hosts >> report.links >> report.routes;
  return report;
}

}  // namespace

Result<PlatformReport> validate_platform(const PlatformOptions& options) {
  if (access(options.file.c_str(), R_OK) != 0)
    return rejected(options, options.file + ": " + std::strerror(errno),
                    "Check the path of the platform file.");
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Error{"no pipe: " + std::string{std::strerror(errno)}, "Try again."};
  const pid_t child = fork();
  if (child == 0) answer(options, ends[1]);
  close(ends[1]);
  const std::string said = child < 0 ? std::string{} : read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0)
    return Error{"no child process: " + std::string{std::strerror(errno)}, "Try again."};
  return understood(options, said, status);
}

}  // namespace nplus1::netmodel
