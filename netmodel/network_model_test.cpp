// parse(): what it accepts, and how it says no.
#include "netmodel/network_model.hpp"

#include <gtest/gtest.h>

namespace nplus1::netmodel {
namespace {

Error error_of(std::string_view specification) {
  const auto model = parse(specification);
  EXPECT_FALSE(model.ok()) << specification;
  return model.ok() ? Error{} : model.error();
}

bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Parse, TakesTheDefaultNetwork) {
  const auto model = parse(kDefaultNetwork);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model.value()->describe(), "lsb:latency=1e-06,bandwidth=1e+10");
}

TEST(Parse, NamesTheModelsThatExist) {
  for (const char* text : {"logp", "", ":", "LSB", "lsb "}) {
    const Error error = error_of(text);
    EXPECT_TRUE(mentions(error.what, "unknown network model")) << text;
    EXPECT_TRUE(mentions(error.remedy, "lsb, loggops")) << text;
  }
}

TEST(Parse, NamesTheKeysThatExist) {
  const Error lsb = error_of("lsb:speed=3");
  EXPECT_TRUE(mentions(lsb.what, "network 'lsb' has no key 'speed'"));
  EXPECT_TRUE(mentions(lsb.remedy, "latency, bandwidth, eager, handshake"));
  const Error loggops = error_of("loggops:l=3");
  EXPECT_TRUE(mentions(loggops.remedy, "L, o, g, G, O, S, handshake"));
}

TEST(Parse, NamesTheKeyWhoseValueIsBad) {
  EXPECT_TRUE(mentions(error_of("lsb:latency=soon").what, "'latency': 'soon' is not a number"));
  EXPECT_TRUE(mentions(error_of("lsb:latency=-1").what, "'latency': '-1' is negative"));
  EXPECT_TRUE(mentions(error_of("lsb:bandwidth=nan").what, "'bandwidth': 'nan' is not a finite number"));
  EXPECT_TRUE(mentions(error_of("loggops:G=inf").what, "'G': 'inf' is not a finite number"));
}

TEST(Parse, RejectsABandwidthOfZeroButNotALatencyOfZero) {
  EXPECT_TRUE(mentions(error_of("lsb:bandwidth=0").what, "'bandwidth' is zero"));
  EXPECT_TRUE(mentions(error_of("lsb:bandwidth=-5").what, "negative"));
  EXPECT_TRUE(parse("lsb:latency=0").ok());
  EXPECT_TRUE(parse("loggops:L=0,G=0").ok());
}

TEST(Parse, RejectsAKeyGivenTwice) {
  EXPECT_TRUE(mentions(error_of("lsb:latency=1,latency=1").what, "'latency' is given twice"));
}

TEST(Parse, RejectsItemsWithoutKeyOrValue) {
  for (const char* text :
       {"lsb:latency", "lsb:latency=", "lsb:=3", "lsb:,", "lsb:latency=1,", "lsb:,latency=1"}) {
    EXPECT_TRUE(mentions(error_of(text).what, "is not KEY=VALUE")) << text;
  }
}

TEST(Parse, RejectsTimesBeyondTheClockAndFractionsOfBytes) {
  EXPECT_TRUE(mentions(error_of("lsb:latency=1e7").what, "longer than"));
  EXPECT_TRUE(mentions(error_of("lsb:eager=0.5").what, "whole number of bytes"));
  EXPECT_TRUE(mentions(error_of("loggops:S=1e30").what, "whole number of bytes"));
}

}  // namespace
}  // namespace nplus1::netmodel
