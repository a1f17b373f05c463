// What is said of platform files that SimGrid does not take: one line that names file, line and fault.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "netmodel/simgrid/load.hpp"

namespace nplus1::netmodel {
namespace {

class Validate : public ::testing::Test {
 protected:
  /// What is said about a platform with this text.
  static std::string complaint(const std::string& text, int ranks = 2) {
    const std::string path = ::testing::TempDir() + "/" + std::to_string(getpid()) + "_nplus1_validate.xml";
    std::ofstream{path} << "<?xml version='1.0'?>\n"
                           "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                           "<platform version=\"4.1\">\n"
                        << text << "</platform>\n";
    PlatformOptions options;
    options.file = path;
    options.ranks = ranks;
    const auto report = validate_platform(options);
    std::remove(path.c_str());
    return report ? "sound" : report.error().what;
  }
  static std::string zone(const std::string& inner) {
    return "<zone id=\"z\" routing=\"Full\">\n<host id=\"a\" speed=\"1Gf\"/>\n<host id=\"b\" "
           "speed=\"1Gf\"/>\n" +
           inner + "</zone>\n";
  }
  static constexpr const char* kLink = "<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/>\n";
  static constexpr const char* kRoute = "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>\n";

  /// One line that names the file and, if SimGrid knows it, the line.
  static void expect_says(const std::string& said, const std::string& part, const std::string& line = "") {
    EXPECT_NE(said.find(part), std::string::npos) << said;
    EXPECT_NE(said.find("nplus1_validate.xml" + (line.empty() ? "" : ":" + line)), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    EXPECT_LT(said.size(), 400U) << said;
  }
};

TEST_F(Validate, AcceptsASoundPlatform) {
  EXPECT_EQ(complaint(zone(std::string{kLink} + kRoute)), "sound");
}
TEST_F(Validate, NamesTheLineOfBadXml) {
  expect_says(complaint("<zone id=\"z\" routing=\"Full\">\n<host id=\"a\" speed=\"1Gf\">\n</zone>\n"), "",
              "6");
}
TEST_F(Validate, NamesTheLineOfABadUnit) {
  expect_says(complaint(zone("<link id=\"l\" bandwidth=\"1Parsec\" latency=\"1us\"/>\n")), "Parsec", "7");
}
TEST_F(Validate, NamesTheLineOfAnUnknownAttribute) {
  expect_says(complaint(zone("<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\" color=\"red\"/>\n")),
              "color", "7");
}
TEST_F(Validate, ExplainsAnUnknownRouting) {
  expect_says(complaint("<zone id=\"z\" routing=\"Star\">\n</zone>\n"), "routing of a zone", "4");
}
TEST_F(Validate, NamesAMissingLink) {
  expect_says(complaint(zone(kRoute)), "Link not found: l");
}
TEST_F(Validate, SaysThatDimensionsDoNotMatch) {
  expect_says(
      complaint(
          "<cluster id=\"t\" prefix=\"n\" suffix=\"\" radical=\"0-6\" speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\" "
          "topology=\"TORUS\" topo_parameters=\"2,2,2\"/>\n"),
      "total = 7", "4");
}
std::string cluster(const std::string& radical) {
  return "<cluster id=\"t\" prefix=\"n\" suffix=\"\" radical=\"" + radical +
         "\" speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\"/>\n";
}
TEST_F(Validate, RefusesWhatNoMemoryHolds) {
  for (const char* radical :
       {"0-9999999", "0-&#57;999999", "2147483647-2147483647", "0-99999999999999999999"})
    expect_says(complaint(cluster(radical)), "too many hosts", "4");
  expect_says(complaint("<host id=\"<!--\" speed=\"1Gf\"/>\n" + cluster("0-9999999")), "too many hosts", "5");
}
TEST_F(Validate, AcceptsARadicalOfAnyLength) {
  std::string radical = "0";
  for (int i = 2; i < 60000; i += 2) radical += "," + std::to_string(i);
  EXPECT_EQ(complaint(cluster(radical)), "sound");
}
TEST_F(Validate, SaysWhichHostsHaveNoRoute) {
  expect_says(complaint(zone(kLink)), "route");
}
TEST_F(Validate, CountsTheHosts) {
  expect_says(complaint(zone(std::string{kLink} + kRoute), 3), "2 hosts");
}
TEST_F(Validate, FindsAMissingFile) {
  PlatformOptions options;
  options.file = "/nowhere/nothing.xml";
  const auto report = validate_platform(options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().what, "/nowhere/nothing.xml: No such file or directory");
}
TEST_F(Validate, RejectsSettingsThatSimgridDoesNotKnow) {
  PlatformOptions options;
  options.file = std::string{NPLUS1_PLATFORMS} + "/two_hosts.xml";
  options.ranks = 2;
  options.settings = {"network/nonsense:1"};
  const auto report = validate_platform(options);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().what.find("network/nonsense"), std::string::npos) << report.error().what;
}

}  // namespace
}  // namespace nplus1::netmodel
