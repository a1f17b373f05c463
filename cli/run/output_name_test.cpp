#include "cli/run/output_name.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <regex>

namespace nplus1::cli {
namespace {

constexpr const char* kJobNumbers[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"};

std::string expanded(const std::string& pattern) {
  const auto name = expand_output_name(pattern, 16);
  return name ? name.value() : "error: " + name.error().what;
}

TEST(OutputName, WithoutAPercentSignItIsWhatItSays) {
  EXPECT_EQ(expanded("a b/c$x"), "a b/c$x");
  EXPECT_EQ(expanded(""), "");
}

TEST(OutputName, TheJobsNumberIsTheBatchSystems) {
  for (const char* name : kJobNumbers) unsetenv(name);
  EXPECT_EQ(expanded("r-%j"), "r-" + std::to_string(getpid()));
  for (const char* name : kJobNumbers) {
    setenv(name, "12[3].host/x", 1);
    EXPECT_EQ(expanded("r-%j"), "r-12[3].host-x") << name;
    unsetenv(name);
  }
}

TEST(OutputName, RanksHostDateAndPercent) {
  EXPECT_EQ(expanded("%n%%j"), "16%j");
  EXPECT_TRUE(std::regex_match(expanded("%t"), std::regex{"\\d{8}T\\d{6}"})) << expanded("%t");
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  EXPECT_EQ(expanded("%h"), host);
}

TEST(OutputName, OtherLettersAreErrors) {
  EXPECT_NE(expanded("a%x").find("'%x'"), std::string::npos);
  EXPECT_NE(expanded("a%").find("'%'"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::cli
