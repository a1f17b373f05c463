// `nplus1 where`: where the ranks of a job are that counts its own statistics, also when it hangs.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <memory>

#include "analyses/where.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/to_stderr.hpp"
#include "cli/verbs.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kWhereExamples =
    "  nplus1 where nplus1-statistics-app-16-1            the folder of the running job\n"
    "  nplus1 where nplus1-app-16-1/statistics            of nplus1 run --patterns-only\n";

struct WhereOptions {
  std::string folder;
  bool for_ranks = false;
};

/// Every rank may have got the signal: one of them speaks, and the others are silent for two seconds.
bool is_first(const std::string& folder) {
  const std::string file = folder + "/said";
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || flock(fd, LOCK_EX) != 0) return true;
  struct stat before {};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const bool fresh = fstat(fd, &before) == 0 && before.st_size > 0 && now.tv_sec - before.st_mtim.tv_sec < 2;
  if (!fresh) {
    static_cast<void>(ftruncate(fd, 0) + (pwrite(fd, "1", 1, 0) == 1 ? 1 : 0));
  }
  close(fd);
  return !fresh;
}

int show(const WhereOptions& options) {
  if (options.for_ranks && !is_first(options.folder)) return 0;
  const auto where = or_fail(analyses::where(options.folder), ExitCode::kNoInput, kNothingShown);
  const std::string text = analyses::where_text(where);
  if (options.for_ranks)
    to_stderr("{}", text);
  else
    fmt::print("{}", text);
  return 0;
}

}  // namespace

void add_where(const Registration& registration) {
  CLI::App* verb = registration.app.add_subcommand(
      "where", "Show where each rank of a running or hung job is, and who waits for whom");
  set_manual(*verb, {"nplus1 where FOLDER", kWhereExamples});
  const auto options = std::make_shared<WhereOptions>();
  verb->add_option("folder", options->folder, "The folder in which the job's ranks keep their statistics")
      ->type_name("FOLDER")
      ->required();
  verb->add_flag("--to-stderr", options->for_ranks,
                 "On stderr, and once if several ask at a time: what ranks use");
  verb->callback([registration, options] { registration.chosen = [options] { return show(*options); }; });
}

}  // namespace nplus1::cli
