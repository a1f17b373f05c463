#include "events/otf2/guarded.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "events/text/text.hpp"
#include "support/sanitized.hpp"

namespace nplus1::events::otf2 {
namespace {

namespace fs = std::filesystem;
using exchange::Imported;
using exchange::Importer;

constexpr const char* kRemedy =
    "the archive is damaged or was not closed: copy or make it again (otf2-print shows what can be read)";
constexpr char kEndMark = '.';  // the status that begins with it is a list of what is missing, not an error

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_{value} {}
  Descriptor(Descriptor&& other) noexcept : value_{std::exchange(other.value_, -1)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

std::pair<Descriptor, Descriptor> make_pipe() {
  int ends[2] = {-1, -1};
  [[maybe_unused]] const int made =
      pipe2(ends, O_CLOEXEC);  // without descriptors the first write fails, and says so
  return std::pair{Descriptor{ends[0]}, Descriptor{ends[1]}};
}

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

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

[[noreturn]] void run_child(int rows, int status, const Limits& limits, const GuardedRead& read) {
  // The library reports trouble on stderr, in its own words.
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
  restrict_to(limits);
  try {
    std::string said{kEndMark};
    for (const std::string& missing : read(rows)) said += "\n" + missing;
    write_all(status, said);
  } catch (const std::exception& error) {
    write_all(status, error.what());
  }
  _exit(0);
}

std::string read_all(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(descriptor, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

std::string describe(int status, const Limits& limits) {
  if (!WIFSIGNALED(status)) return "the OTF2 library gave up on it";
  if (WTERMSIG(status) == SIGXCPU || (WTERMSIG(status) == SIGKILL))
    return "the OTF2 library did not come to an end within " + std::to_string(limits.time.count()) +
           " s of CPU time";
  return std::string{"the OTF2 library crashed on it ("} + strsignal(WTERMSIG(status)) + ")";
}

/// The reading process; ended with its owner.
class Child {
 public:
  Child(pid_t pid, Descriptor status) : pid_{pid}, status_{std::move(status)} {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  /// Waits for its end. What it said last, or why it could not.
  std::string result(const Limits& limits) {
    std::string said = read_all(status_.get());
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return said.empty() ? describe(status, limits) : said;
  }

 private:
  pid_t pid_;
  Descriptor status_;
};

class GuardedImporter final : public Importer {
 public:
  GuardedImporter(std::unique_ptr<Importer> rows, std::unique_ptr<Child> child, std::string name,
                  Limits limits)
      : rows_{std::move(rows)}, child_{std::move(child)}, name_{std::move(name)}, limits_{limits} {}

  const exchange::Preamble& preamble() const override { return rows_->preamble(); }

  /// The child knows better than the rows what went wrong.
  Result<Imported> read(EventSink& sink) override {
    auto imported = rows_->read(sink);
    if (!imported && imported.error().what.find(": there is ") != std::string::npos)
      return Error{name_ + imported.error().what.substr(imported.error().what.find(": ")), kRemedy};
    std::string said = child_->result(limits_);
    if (said.front() != kEndMark) return Error{name_ + ": " + said, kRemedy};
    if (!imported) return Error{name_ + imported.error().what.substr(name_.size()), kRemedy};
    for (std::size_t at = 1; at < said.size();) {
      const std::size_t end = std::min(said.find('\n', at + 1), said.size());
      imported.value().missing.push_back(said.substr(at + 1, end - at - 1));
      at = end;
    }
    return imported;
  }

 private:
  std::unique_ptr<Importer> rows_;
  std::unique_ptr<Child> child_;
  std::string name_;
  Limits limits_;
};

}  // namespace

Result<std::unique_ptr<Importer>> read_guarded(const fs::path& archive, const Limits& limits,
                                               GuardedRead read) {
  auto [rows_out, rows_in] = make_pipe();
  auto [status_out, status_in] = make_pipe();
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) return Error{archive.string() + ": no process can be started to read it", "try again"};
  if (pid == 0) run_child(rows_in.release(), status_in.get(), limits, read);
  rows_in = Descriptor{};
  status_in = Descriptor{};
  auto child = std::make_unique<Child>(pid, std::move(status_out));
  auto rows = text::open(rows_out.release(), archive.string(), text::Syntax::kCsv);
  if (!rows) return Error{archive.string() + ": " + child->result(limits), kRemedy};
  return std::unique_ptr<Importer>{
      std::make_unique<GuardedImporter>(std::move(rows).value(), std::move(child), archive.string(), limits)};
}

}  // namespace nplus1::events::otf2
