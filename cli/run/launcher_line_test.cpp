#include "cli/run/launcher_line.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace nplus1::cli {
namespace {

using Words = std::vector<std::string>;

Result<LauncherLine> line_of(LauncherKind kind, const Words& words, std::optional<std::int32_t> ranks = {}) {
  unsetenv("SLURM_NTASKS");
  return take_apart({kind, {"launcher"}}, words, ranks);
}

Section only_section(LauncherKind kind, const Words& words) {
  const auto line = line_of(kind, words);
  EXPECT_TRUE(line.ok()) << line.error().what;
  return line.ok() && line.value().sections.size() == 1 ? line.value().sections[0] : Section{-1, {}, {}};
}

std::string error_of(LauncherKind kind, const Words& words, std::optional<std::int32_t> ranks = {}) {
  const auto line = line_of(kind, words, ranks);
  return line.ok() ? "" : line.error().what;
}

TEST(LauncherLine, HydrasOptionsStayVerbatim) {
  const Section s =
      only_section(LauncherKind::kHydra, {"-f", "my hosts", "--genv", "A", "1", "-n", "4", "-env", "B=2",
                                          "-l", "-bind-to", "core:1", "./app", "-n", "9"});
  EXPECT_EQ(s.ranks, 4);
  EXPECT_EQ(s.options,
            (Words{"-f", "my hosts", "--genv", "A", "1", "-env", "B=2", "-l", "-bind-to", "core:1"}));
  EXPECT_EQ(s.command, (Words{"./app", "-n", "9"}));
}

TEST(LauncherLine, RanksAreSaidInManyWays) {
  for (const Words& words : {Words{"-n", "4"}, {"--n", "4"}, {"-np", "4"}, {"--np", "4"}, {"-np=4"}}) {
    Words line = words;
    line.emplace_back("./app");
    EXPECT_EQ(only_section(LauncherKind::kHydra, line).ranks, 4) << words[0];
    EXPECT_EQ(only_section(LauncherKind::kOpenMpi, line).ranks, 4) << words[0];
  }
  for (const Words& words :
       {Words{"-n", "4"}, {"-n4"}, {"--ntasks=4"}, {"--ntasks", "4"}, {"-ln4"}, {"-ln", "4"}}) {
    Words line = words;
    line.emplace_back("./app");
    EXPECT_EQ(only_section(LauncherKind::kSlurm, line).ranks, 4) << words[0];
    EXPECT_EQ(only_section(LauncherKind::kFlux, line).ranks, 4) << words[0];
  }
}

TEST(LauncherLine, OptionsOfSlurmAreLettersOrLongOnes) {
  const Section s =
      only_section(LauncherKind::kSlurm, {"-lN2", "--mpi=pmi2", "--cpu-bind", "none", "-K1", "--exclusive",
                                          "--of-tomorrow=3", "-c", "1", "-un", "16", "--", "./app"});
  EXPECT_EQ(s.ranks, 16);
  EXPECT_EQ(s.options, (Words{"-lN2", "--mpi=pmi2", "--cpu-bind", "none", "-K1", "--exclusive",
                              "--of-tomorrow=3", "-c", "1", "-u"}));
  EXPECT_EQ(s.command, Words{"./app"});
}

TEST(LauncherLine, SectionsCountTheirOwnRanks) {
  const auto line =
      line_of(LauncherKind::kHydra, {"-n", "2", "./a", "x", ":", "-host", "h", "./b", ":", "-n", "3", "./c"});
  ASSERT_TRUE(line.ok());
  ASSERT_EQ(line.value().sections.size(), 3U);
  EXPECT_EQ(line.value().sections[1].ranks, 1) << "as Hydra counts";
  EXPECT_EQ(line.value().sections[1].options, (Words{"-host", "h"}));
  EXPECT_EQ(total_ranks(line.value().sections), 6);
  EXPECT_NE(error_of(LauncherKind::kOpenMpi, {"-n", "2", "./a", ":", "./b"}), "")
      << "as many as there are slots";
}

TEST(LauncherLine, RanksSaidTwiceMustAgree) {
  EXPECT_EQ(error_of(LauncherKind::kHydra, {"-n", "4", "./app"}, 4), "");
  EXPECT_EQ(error_of(LauncherKind::kHydra, {"./app"}, 4), "");
  EXPECT_NE(error_of(LauncherKind::kHydra, {"./app"}).find("how many ranks"), std::string::npos);
  const std::string error = error_of(LauncherKind::kHydra, {"-n", "4", "./app"}, 5);
  EXPECT_NE(error.find("5 ranks"), std::string::npos) << error;
  EXPECT_NE(error.find("starts 4"), std::string::npos) << error;
}

TEST(LauncherLine, SlurmsAllocationSaysHowManyRanks) {
  setenv("SLURM_NTASKS", "6", 1);
  const auto line = take_apart({LauncherKind::kSlurm, {"srun"}}, {"./app"}, {});
  unsetenv("SLURM_NTASKS");
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line.value().sections[0].ranks, 6);
}

TEST(LauncherLine, WhatIsNotUnderstoodIsAnError) {
  EXPECT_NE(error_of(LauncherKind::kHydra, {"-frobnicate", "3", "./app"}).find("-frobnicate"),
            std::string::npos);
  EXPECT_NE(error_of(LauncherKind::kHydra, {"-configfile", "x"}), "");
  EXPECT_NE(error_of(LauncherKind::kHydra, {"-genv", "A"}), "");
  EXPECT_NE(error_of(LauncherKind::kHydra, {"-n"}), "");
  EXPECT_NE(error_of(LauncherKind::kHydra, {"-n", "4"}), "");
  EXPECT_NE(error_of(LauncherKind::kHydra, {"-n", "4", "./a", ":"}), "");
  EXPECT_NE(error_of(LauncherKind::kHydra, {"-n", "4x", "./a"}), "");
  EXPECT_NE(error_of(LauncherKind::kHydra, {}), "");
  EXPECT_NE(error_of(LauncherKind::kSlurm, {"-n"}), "");
  EXPECT_NE(error_of(LauncherKind::kSlurm, {"-?", "./app"}), "");
  EXPECT_NE(error_of(LauncherKind::kSlurm, {"--of-tomorrow", "3", "./app"}), "");
  EXPECT_NE(error_of(LauncherKind::kSlurm, {"--test-only", "-n", "3", "./app"}), "");
}

TEST(LauncherLine, APreloadOfTheLinesOwnIsRefused) {
  EXPECT_NE(error_of(LauncherKind::kHydra, {"-genv", "LD_PRELOAD", "x.so", "-n", "2", "./a"}), "");
  EXPECT_NE(error_of(LauncherKind::kOpenMpi, {"-x", "LD_PRELOAD=x.so", "-n", "2", "./a"}), "");
  EXPECT_NE(error_of(LauncherKind::kSlurm, {"--export=ALL,LD_PRELOAD=x.so", "-n", "2", "./a"}), "");
  EXPECT_EQ(error_of(LauncherKind::kOpenMpi, {"-x", "MY_LD_PRELOADS=1", "-n", "2", "./a"}), "");
}

Result<Words> observed(LauncherKind kind, const Words& words) {
  unsetenv("SLURM_EXPORT_ENV");
  return observed_line(line_of(kind, words).value(), "/l.so", {{"NPLUS1_OUTPUT", "/o"}}, {"NPLUS1_MEETING"});
}

TEST(LauncherLine, OfSlurmTheListOfVariablesGoesOn) {
  const auto plain = observed(LauncherKind::kSlurm, {"-n", "4", "--mpi=pmi2", "./app", "x"});
  EXPECT_EQ(plain.value(),
            (Words{"/usr/bin/env", "NPLUS1_OUTPUT=/o", "launcher", "--mpi=pmi2",
                   "--export=ALL,NPLUS1_OUTPUT,NPLUS1_MEETING,LD_PRELOAD=/l.so", "-n", "4", "./app", "x"}));
  const auto chosen = observed(LauncherKind::kSlurm, {"--export", "PATH,A=b", "-n", "4", "./app"});
  EXPECT_EQ(chosen.value()[3], "--export=PATH,A=b,NPLUS1_OUTPUT,NPLUS1_MEETING,LD_PRELOAD=/l.so");
  EXPECT_FALSE(observed(LauncherKind::kSlurm, {"--export=NONE", "-n", "4", "./app"}).ok());
}

TEST(LauncherLine, OthersHaveAnOptionForEachVariable) {
  EXPECT_EQ(observed(LauncherKind::kOpenMpi, {"-n", "1", "./a", ":", "--bind-to", "none", "-np", "2", "./b"})
                .value(),
            (Words{"/usr/bin/env", "NPLUS1_OUTPUT=/o", "launcher", "-x", "LD_PRELOAD=/l.so", "-n", "1", "./a",
                   ":", "--bind-to", "none", "-x", "LD_PRELOAD=/l.so", "-n", "2", "./b"}));
  EXPECT_EQ(observed(LauncherKind::kPrrte, {"-n", "2", "./a"}).value(),
            (Words{"/usr/bin/env", "NPLUS1_OUTPUT=/o", "launcher", "-x", "NPLUS1_OUTPUT", "-x",
                   "NPLUS1_MEETING", "-x", "LD_PRELOAD=/l.so", "-n", "2", "./a"}));
  EXPECT_EQ(observed(LauncherKind::kFlux, {"-N2", "-n", "2", "./a"}).value(),
            (Words{"/usr/bin/env", "NPLUS1_OUTPUT=/o", "launcher", "-N2", "--env=LD_PRELOAD=/l.so", "-n", "2",
                   "./a"}));
}

TEST(LauncherLine, LaunchersAreKnownByName) {
  EXPECT_EQ(launcher_of({"/nowhere/srun"}).error().fault, Fault::kUnavailable);
  EXPECT_FALSE(launcher_of({"flux", "batch"}).ok());
  EXPECT_FALSE(launcher_of({"/nowhere/mpirun"}).ok());
  EXPECT_FALSE(launcher_of({"./app"}).value().has_value());
  EXPECT_FALSE(launcher_of({}).value().has_value());
}

}  // namespace
}  // namespace nplus1::cli
