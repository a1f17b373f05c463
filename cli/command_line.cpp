#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/to_stderr.hpp"
#include "cli/verbs.hpp"
#include "support/stopped.hpp"

namespace nplus1::cli {
namespace {

void print(const Failure& failure) {
  to_stderr("nplus1: {}\n  so:   {}\n  next: {}\n", failure.what(), failure.consequence(), failure.next());
}

/// The verb that help should be shown for: the one named, or the top level.
std::string help_command(const CLI::App& app) {
  std::string command = "nplus1";
  for (const CLI::App* verb = &app; !verb->get_subcommands().empty();) {
    verb = verb->get_subcommands().front();
    command += " " + verb->get_name();
  }
  return command + " --help";
}

int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  std::string cause = error.what();
  std::replace(cause.begin(), cause.end(), '\n', ' ');
  // CLI11 names the range of a positive number by its two ends, the second of which has 309 digits.
  constexpr std::string_view kPositive = " not in range 0.000000 to 1797";
  if (const std::size_t at = cause.find(kPositive); at != cause.npos)
    cause.replace(at, cause.npos, " is not greater than 0");
  if (error.get_name() == "RequiredError" && cause == "A subcommand is required") cause = "no verb was given";
  print(Failure{ExitCode::kUsage, cause, "nothing was done", help_command(app)});
  return static_cast<int>(ExitCode::kUsage);
}

/// CLI11 would only say that a verb is missing.
void check_verb(CLI::App& app, const std::vector<std::string>& words) {
  if (!words.empty() && words.front().rfind('-', 0) == 0) return;
  std::string names;
  for (const CLI::App* verb : verbs_of(app)) {
    if (!words.empty() && verb->get_name() == words.front()) return;
    names += (names.empty() ? "" : ", ") + verb->get_name();
  }
  const std::string cause =
      words.empty() ? "no verb was given" : fmt::format("there is no verb '{}'", words.front());
  throw Failure{ExitCode::kUsage, cause, kNothingStarted,
                fmt::format("use one of: {}; or nplus1 --help", names)};
}

/// NaN is neither below nor above what CLI11's checks compare it with, and passes them all.
void refuse_nan(CLI::App& app) {
  const auto why = [](const std::string& word) {
    return std::isnan(std::strtod(word.c_str(), nullptr)) ? "Value " + word + " is not a number"
                                                          : std::string{};
  };
  for (CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    for (const char* const of_numbers : {"FLOAT", "POSITIVE", "NONNEGATIVE", " in ["})
      if (type.find(of_numbers) != type.npos) {
        option->check(CLI::Validator{why, ""});
        break;
      }
  }
  for (CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) refuse_nan(*verb);
}

int parse_and_act(CLI::App& app, Action& chosen, std::vector<std::string> words) {
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes them last first
    app.parse(words);
    return chosen();
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
  }
}

/// Exit code `code`, or another if what was printed did not get out: `> FILE` on a full disk is no success.
int checked_output(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  print(Failure{ExitCode::kCantCreate, "what was printed could not be written to stdout",
                "the output is not complete", "check where it goes: a full disk, or a closed pipe?"});
  return code == 0 ? static_cast<int>(ExitCode::kCantCreate) : code;
}

int unexpected(const std::exception& error) {
  if (std::ferror(stdout) != 0) return static_cast<int>(ExitCode::kCantCreate);  // checked_output() says it
  print(Failure{ExitCode::kSoftware, fmt::format("unexpected error: {}", error.what()),
                "the command did not finish", "please report it with the command line you used"});
  return static_cast<int>(ExitCode::kSoftware);
}

/// A path that the user named, or something beside it: of no bug, but of permissions, loops of links, names too long.
int unusable(const std::filesystem::filesystem_error& error) {
  if (error.path1().empty()) return unexpected(error);
  const bool full =
      error.code() == std::errc::no_space_on_device || error.code() == std::errc::read_only_file_system;
  const ExitCode code = full ? ExitCode::kCantCreate : ExitCode::kNoInput;
  print(Failure{code, fmt::format("cannot use {}: {}", error.path1().string(), error.code().message()),
                "the command did not finish", "check the name, and who may read and write there"});
  return static_cast<int>(code);
}

int act(int argc, char** argv) {
  try {
    const std::vector<std::string> words(argv + std::min(1, argc), argv + argc);
    const auto dashes = std::find(words.begin(), words.end(), "--");
    const bool has_dashes = dashes != words.end();
    const std::vector<std::string> after(has_dashes ? dashes + 1 : dashes, words.end());
    CLI::App app;
    Action chosen;
    describe_program(app);
    add_verbs({app, chosen, after, has_dashes});
    refuse_nan(app);
    check_verb(app, {words.begin(), dashes});
    return parse_and_act(app, chosen, {words.begin(), dashes});
  } catch (const Failure& failure) {
    print(failure);
    return static_cast<int>(failure.code());
  } catch (const Stopped& stopped) {
    const Failure failure = failure_of(stopped.error(), ExitCode::kSoftware, "the command did not finish");
    print(failure);
    return static_cast<int>(failure.code());
  } catch (const std::bad_alloc&) {
    print(Failure{ExitCode::kUnavailable, "there is not enough memory for what was asked",
                  "the command did not finish", "use a machine with more, or look at fewer ranks"});
    return static_cast<int>(ExitCode::kUnavailable);
  } catch (const std::filesystem::filesystem_error& error) {
    if (std::error_code gone; std::filesystem::current_path(gone).empty() && gone) {
      print(Failure{ExitCode::kNoInput, fmt::format("the current folder: {}", gone.message()),
                    "the command did not finish", "change to a folder that exists"});
      return static_cast<int>(ExitCode::kNoInput);
    }
    return unusable(error);
  } catch (const std::exception& error) {
    return unexpected(error);
  }
}

/// Keeps the numbers of closed standard streams from the files that are opened from here on. Reading and writing them still
/// fails, and what is started has them closed, as it would have without us.
void hold_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) == -1)
      static_cast<void>(::open("/dev/null", (stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC));
}

}  // namespace

int run_command_line(int argc, char** argv) {
  hold_closed_streams();
  // Line by line: where both streams go into one file, whole lines stand in it in the order in which they were said.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  return checked_output(act(argc, argv));
}

}  // namespace nplus1::cli
