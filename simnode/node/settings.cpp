#include "simnode/node/settings.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "simnode/settings/run_options.hpp"

namespace nplus1::simnode::node {
namespace {

std::string environment(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::string{fallback} : std::string{value};
}

int number(const char* name) {
  return std::atoi(environment(name, "0").c_str());
}

/// The command line has checked all of it; a line for mpirun that was pasted and changed comes unchecked.
std::optional<Error> read_options(Settings& s) {
  for (const settings::RunOption& option : settings::run_options())
    if (const auto error = option.take(environment(option.variable, option.fallback), s))
      return Error{std::string{option.variable} + ": " + error->what, error->remedy};
  return std::nullopt;
}

/// How many ranks there are and where, as the job's last rank knew it. TCP is for ranks of other hosts, and for who
/// asks for it.
std::optional<Error> read_job(Settings& s) {
  const int world = number("NPLUS1_WORLD"), here = number("MPI_LOCALNRANKS");
  s.ranks = world > 1 ? world - 1 : 0;
  const bool one_host = world > 1 && here == world;
  s.hosts = !one_host ? Door::Hosts::kSeveral : s.tcp ? Door::Hosts::kThisOverTcp : Door::Hosts::kThis;
  const auto recorded = static_cast<int>(s.compute_intervals.of_rank.size());
  if (s.compute_times.mode == semantics::ComputeMode::kRecorded && s.ranks > 0 && s.ranks != recorded)
    return Error{fmt::format("NPLUS1_COMPUTE: {} is of {} ranks, and this job has {}", s.compute_times.table,
                             recorded, s.ranks),
                 "record the program with as many ranks"};
  return std::nullopt;
}

}  // namespace

Result<Settings> settings_from_environment() {
  Settings s;
  s.output = environment("NPLUS1_OUTPUT", "");
  s.native = settings::is_on(environment("NPLUS1_NATIVE_RECORD", ""));
  s.quiet = settings::is_on(environment("NPLUS1_QUIET", ""));
  s.test_delay = environment("NPLUS1_TEST_DELAY", "");
  for (const auto& read : {read_options, read_job})
    if (auto error = read(s)) return *std::move(error);
  return s;
}

transport::Config Settings::config() const {
  transport::Config c = settings::told(*this);
  c.quiet = quiet ? 1 : 0;
  c.native = native ? 1 : 0;
  return c;
}

}  // namespace nplus1::simnode::node
