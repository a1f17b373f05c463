#include "events/otf2/guarded.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "events/text/text.hpp"
#include "support/processes/child.hpp"
#include "support/sanitized.hpp"

namespace nplus1::events::otf2 {
namespace {

namespace fs = std::filesystem;
using exchange::Imported;
using exchange::Importer;
using processes::Descriptor;

constexpr const char* kReadOrCopyAgain =
    "the archive is damaged or was not closed: copy or make it again (otf2-print shows what can be read)";
constexpr char kEndMark = '.';  // the status that begins with it is a list of what is missing, not an error

void set_limit(int resource, rlim_t value) {
  const rlimit limit{value, value};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

void restrict_to(const Limits& limits) {
  for (const int signal : {SIGXCPU, SIGSEGV, SIGBUS, SIGABRT, SIGALRM, SIGPIPE}) ::signal(signal, SIG_DFL);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_CPU, static_cast<rlim_t>(limits.time.count()));
  if (!kReservesAddresses) set_limit(RLIMIT_AS, limits.memory);
}

[[noreturn]] void run_child(int rows, int status, const Limits& limits, const GuardedRead& read) {
  // The library reports trouble on stderr, in its own words.
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
  restrict_to(limits);
  try {
    std::string said{kEndMark};
    for (const std::string& missing : read(rows)) said += "\n" + missing;
    processes::write_all(status, said);
  } catch (const std::exception& error) {
    processes::write_all(status, error.what());
  }
  _exit(0);
}

std::string describe(const processes::Ending& ending, const Limits& limits) {
  if (ending.signal == 0) return "the OTF2 library gave up on it";
  if (ending.signal == SIGXCPU || ending.signal == SIGKILL)
    return "the OTF2 library did not come to an end within " + std::to_string(limits.time.count()) +
           " s of CPU time";
  return std::string{"the OTF2 library crashed on it ("} + strsignal(ending.signal) + ")";
}

/// The reading process; ended with its owner.
class ReadingChild {
 public:
  ReadingChild(processes::Child process, Descriptor status)
      : process_{std::move(process)}, status_{std::move(status)} {}
  /// Waits for its end. What it said last, or why it could not.
  std::string result(const Limits& limits) {
    std::string said = processes::read_all(status_.get());
    const processes::Ending ending = process_.wait();
    return said.empty() ? describe(ending, limits) : said;
  }

 private:
  processes::Child process_;
  Descriptor status_;
};

class GuardedImporter final : public Importer {
 public:
  GuardedImporter(std::unique_ptr<Importer> rows, std::unique_ptr<ReadingChild> child, std::string name,
                  Limits limits)
      : rows_{std::move(rows)}, child_{std::move(child)}, name_{std::move(name)}, limits_{limits} {}

  const exchange::Preamble& preamble() const override { return rows_->preamble(); }

  /// The child knows better than the rows what went wrong.
  Result<Imported> read(EventSink& sink) override {
    auto imported = rows_->read(sink);
    if (!imported && imported.error().what.find(": there is ") != std::string::npos)
      return Error{name_ + imported.error().what.substr(imported.error().what.find(": ")), kReadOrCopyAgain};
    std::string said = child_->result(limits_);
    if (said.front() != kEndMark) return Error{name_ + ": " + said, kReadOrCopyAgain};
    if (!imported) return Error{name_ + imported.error().what.substr(name_.size()), kReadOrCopyAgain};
    for (std::size_t at = 1; at < said.size();) {
      const std::size_t end = std::min(said.find('\n', at + 1), said.size());
      imported.value().missing.push_back(said.substr(at + 1, end - at - 1));
      at = end;
    }
    return imported;
  }

 private:
  std::unique_ptr<Importer> rows_;
  std::unique_ptr<ReadingChild> child_;
  std::string name_;
  Limits limits_;
};

}  // namespace

Result<std::unique_ptr<Importer>> read_guarded(const fs::path& archive, const Limits& limits,
                                               GuardedRead read) {
  const Error not_started{archive.string() + ": no process can be started to read it", "try again"};
  auto rows_pipe = processes::make_pipe();
  auto status_pipe = processes::make_pipe();
  if (!rows_pipe || !status_pipe) return not_started;
  auto& [rows_out, rows_in] = *rows_pipe;
  auto& [status_out, status_in] = *status_pipe;
  std::fflush(nullptr);
  auto process = processes::fork_child([&, &rows_in = rows_in, &status_in = status_in]() -> int {
    run_child(rows_in.release(), status_in.get(), limits, read);
  });
  if (!process) return not_started;
  rows_in.close();
  status_in.close();
  auto child = std::make_unique<ReadingChild>(std::move(*process), std::move(status_out));
  auto rows = text::open(rows_out.release(), archive.string(), text::Syntax::kCsv);
  if (!rows) return Error{archive.string() + ": " + child->result(limits), kReadOrCopyAgain};
  return std::unique_ptr<Importer>{
      std::make_unique<GuardedImporter>(std::move(rows).value(), std::move(child), archive.string(), limits)};
}

}  // namespace nplus1::events::otf2
