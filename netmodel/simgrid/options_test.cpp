#include "netmodel/simgrid/options.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "netmodel/flow_protocol/piecewise.hpp"
#include "netmodel/simgrid/host_map.hpp"

namespace nplus1::netmodel {
namespace {

const std::vector<MapHost> kHosts{{"a", 2}, {"b", 1}, {"c", 2}};
using Map = std::vector<std::size_t>;

TEST(HostMap, FillsOneHostAfterTheOtherInBlocks) {
  EXPECT_EQ(map_ranks("block", 4, kHosts).value(), (Map{0, 0, 1, 2}));
}
TEST(HostMap, GoesRoundTheHostsThatHaveACoreLeft) {
  EXPECT_EQ(map_ranks("round-robin", 5, kHosts).value(), (Map{0, 1, 2, 0, 2}));
}
TEST(HostMap, CountsCores) {
  const auto map = map_ranks("block", 6, kHosts);
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().what, "the platform has 3 hosts with 5 cores for 6 ranks");
}
TEST(HostMap, ReadsAFile) {
  const std::string path = ::testing::TempDir() + "/" + std::to_string(getpid()) + "_nplus1_map";
  std::ofstream{path} << "c*2 # both here\nb a\n";
  EXPECT_EQ(map_ranks(path, 4, kHosts).value(), (Map{2, 2, 1, 0}));
  EXPECT_EQ(map_ranks(path, 3, kHosts).value(), (Map{2, 2, 1}));
  EXPECT_EQ(map_ranks(path, 5, kHosts).error().what, path + ": names hosts for 4 of 5 ranks");
  std::ofstream{path} << "a\nnobody\n";
  EXPECT_EQ(map_ranks(path, 2, kHosts).error().what, path + ":2: the platform has no host 'nobody'");
  std::remove(path.c_str());
}

TEST(PlatformFlags, AreUnderstood) {
  const auto options = parse_platform_flags({"p.xml", "IB", "block", "a/b:1 c/d:2:3", "2.5Gf", "", ""}, 7);
  ASSERT_TRUE(options);
  EXPECT_EQ(options.value().settings, (std::vector<std::string>{"a/b:1", "c/d:2:3"}));
  EXPECT_DOUBLE_EQ(options.value().host_speed, 2.5e9);
  EXPECT_EQ(options.value().ranks, 7);
}
TEST(PlatformFlags, AreNamedInErrors) {
  EXPECT_NE(parse_platform_flags({"p", "XX", "", "", "", "", ""}, 1).error().what.find("--model"),
            std::string::npos);
  EXPECT_NE(parse_platform_flags({"p", "", "", "a", "", "", ""}, 1).error().what.find("--simgrid"),
            std::string::npos);
  EXPECT_NE(parse_platform_flags({"p", "", "", "", "fast", "", ""}, 1).error().what.find("--host-speed"),
            std::string::npos);
}

TEST(Piecewise, TakesThePieceBelowTheSize) {
  const auto cost = Piecewise::parse("0:1e-6:1e-9;1000:5e-6:0");
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost.value().at(bytes(0)), from_seconds(1e-6));
  EXPECT_EQ(cost.value().at(bytes(1000)), from_seconds(2e-6));  // smpi_host.cpp: size <= factor
  EXPECT_EQ(cost.value().at(bytes(1001)), from_seconds(5e-6));
}
TEST(Piecewise, ReadsBackWhatItDescribes) {
  const auto cost = Piecewise::parse("0:1e-6:1e-9;1000:5e-6");
  EXPECT_EQ(Piecewise::parse(cost.value().describe()).value().describe(), cost.value().describe());
}
TEST(Piecewise, QuotesWhatItCannotRead) {
  EXPECT_NE(Piecewise::parse("0:1e-6;nonsense").error().what.find("'nonsense'"), std::string::npos);
}

TEST(PlatformFlags, NameWhatBecomesOfALinkOrSayWhatIsWrong) {
  for (const char* good : {"link:a=x2", "link:a=b=x0.5", "link:*=x0.7", "link:a=off",
                           "link:a=bursts/0.5/1ms/10ms/7", "jitter:uniform/2us/1"})
    EXPECT_TRUE(parse_platform_flags({"f.xml", "", "", good, "", "", ""}, 2).ok()) << good;
  for (const char* bad :
       {"link:a", "link:a=2", "link:a=x0", "link:a=x-1", "link:a=xnan", "link:a=bursts/1/1ms/10ms/7",
        "link:a=bursts/0.5/0/10ms/7", "link:a=bursts/0.5/1ms/7", "link:a=bursts", "jitter:uniform/2us",
        "jitter:gauss/2us/1", "jitter:uniform/x/1"})
    EXPECT_FALSE(parse_platform_flags({"f.xml", "", "", bad, "", "", ""}, 2).ok()) << bad;
}

}  // namespace
}  // namespace nplus1::netmodel
