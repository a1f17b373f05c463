#include <sys/resource.h>
#include <sys/stat.h>
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
#include "support/processes/child.hpp"

namespace nplus1::netmodel {
namespace {

constexpr const char* kRemedy = "Correct the platform or its options; platforms/ has examples that work.";
constexpr const char* kNs3Remedy =
    "SimGrid's ns-3 takes zones whose routes are single links, and no clusters but flat ones with a "
    "backbone.";
/// What SimGrid says of a zone whose routing it does not know (sg_platf_create_zone).
constexpr const char* kUnknownRouting = "Not a valid model!";
constexpr const char* kRoutingRemedy =
    "Give the zone's routing as one of Full, Floyd, Dijkstra, DijkstraCache, Cluster, Vivaldi, Wifi, None; "
    "platforms/ has examples that work.";
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
              std::to_string(r.routes) + kSeparator + r.simgrid;
    } else {
      text += "bad" + std::string{kSeparator} + result.error().what + kSeparator + result.error().remedy;
    }
  } else {
    text += "bad" + std::string{kSeparator} + function.error().what + kSeparator + function.error().remedy;
  }
  [[maybe_unused]] const ssize_t written = write(out, text.data(), text.size());
  _exit(0);  // SimGrid's own end may crash, and tells nothing
}

/// Without SimGrid's prefix "[12.345] file.cpp:67: [channel/CRITICAL] ".
std::string without_prefix(const std::string& line) {
  const std::size_t level = line.find("/CRITICAL] ");
  return level == std::string::npos ? line : line.substr(level + std::strlen("/CRITICAL] "));
}

/// What a child said before it died: SimGrid's first critical line, else its first line, and the line of the
/// file.
struct LastWords {
  std::string complaint;
  std::string line;
};

LastWords last_words(const std::string& said) {
  std::istringstream lines{said};
  LastWords words;
  bool critical = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(kLineMark, 0) == 0) {
      words.line = line.substr(std::strlen(kLineMark));
    } else if (!critical && (words.complaint.empty() || line.find("CRITICAL") != std::string::npos)) {
      critical = line.find("CRITICAL") != std::string::npos;
      words.complaint = without_prefix(line);
    }
  }
  return words;
}

/// SimGrid explains at length; its first line has the cause, without ornaments and the heads of lists.
std::string first_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  text.erase(std::remove(text.begin(), text.end(), '*'), text.end());
  if (const std::size_t gap = text.find("  "); gap != std::string::npos) text.erase(gap, 1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  if (!text.empty() && text.back() == ':') text.resize(std::min(text.rfind(". "), text.size()));
  return text;
}

/// `line`: a number, or nothing.
Error rejected(const PlatformOptions& options, const std::string& line, const std::string& why,
               const std::string& remedy = {}) {
  const bool routing = why == kUnknownRouting;
  const std::string text = routing ? "SimGrid does not know the routing of a zone" : first_line(why);
  const bool names_file = text.find(options.file) != std::string::npos;
  const std::string place = line.empty() || line == "0" ? options.file : options.file + ":" + line;
  const char* usual = routing ? kRoutingRemedy : options.model == "ns-3" ? kNs3Remedy : kRemedy;
  return {names_file ? text : place + ": " + text, remedy.empty() ? usual : remedy};
}

Result<PlatformReport> understood(const PlatformOptions& options, const std::string& said,
                                  const processes::Ending& ending) {
  const std::size_t begin = said.find(kSeparator);
  if (begin == std::string::npos) {
    const LastWords words = last_words(said);
    const std::string how = ending.signal != 0 ? strsignal(ending.signal) : "it ended early";
    const std::string& why = words.complaint;
    return rejected(options, words.line,
                    why.empty() ? "SimGrid rejects it without a word (" + how + ")" : why);
  }
  std::istringstream words{said.substr(begin + 1)};
  std::string verdict;
  std::string what;
  std::string remedy;
  std::getline(words, verdict, kSeparator);
  std::getline(words, what, kSeparator);
  std::getline(words, remedy, kSeparator);
  if (verdict != "ok") return rejected(options, {}, what, remedy);
  PlatformReport report;
  std::istringstream{what} >> report.hosts >> report.links >> report.routes;
  report.simgrid = remedy;
  return report;
}

/// What needs no SimGrid to be seen.
std::optional<Error> unreadable(const PlatformOptions& options) {
  struct stat info {};
  const bool there = stat(options.file.c_str(), &info) == 0 && access(options.file.c_str(), R_OK) == 0;
  const char* why = !there                  ? std::strerror(errno)
                    : S_ISDIR(info.st_mode) ? "is a directory, not a platform file"
                    : info.st_size == 0     ? "is empty; a platform needs hosts, links and routes"
                                            : nullptr;
  if (why == nullptr) return std::nullopt;
  return Error{options.file + ": " + why, there ? kRemedy : "Check the path of the platform file."};
}

}  // namespace

Result<PlatformReport> validate_platform(const PlatformOptions& options) {
  if (auto error = unreadable(options)) return *std::move(error);
  auto pipe = processes::make_pipe();
  if (!pipe) return Error{"no pipe: " + std::string{std::strerror(errno)}, "Try again."};
  auto& [out, in] = *pipe;
  auto child = processes::fork_child([&options, &in = in]() -> int { answer(options, in.get()); });
  in.close();
  if (!child) return Error{"no child process: " + std::string{std::strerror(errno)}, "Try again."};
  const std::string said = processes::read_all(out.get());
  return understood(options, said, child->wait());
}

}  // namespace nplus1::netmodel
