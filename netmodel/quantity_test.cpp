#include "netmodel/quantity.hpp"

#include <gtest/gtest.h>

namespace nplus1::netmodel {
namespace {

double value(std::string_view text, Quantity quantity) {
  const auto result = parse_quantity(text, quantity);
  EXPECT_TRUE(result.ok()) << text;
  return result.ok() ? result.value() : -1;
}

std::string why_not(std::string_view text, Quantity quantity) {
  const auto result = parse_quantity(text, quantity);
  EXPECT_FALSE(result.ok()) << text;
  return result.ok() ? "" : result.error().what;
}

TEST(Quantity, ReadsTimesInSecondsOrWithAUnit) {
  EXPECT_DOUBLE_EQ(value("1e-6", Quantity::kTime), 1e-6);
  EXPECT_DOUBLE_EQ(value("1.5us", Quantity::kTime), 1.5e-6);
  EXPECT_DOUBLE_EQ(value("0.08ns", Quantity::kTime), 8e-11);
  EXPECT_DOUBLE_EQ(value("80ps", Quantity::kTime), 8e-11);
  EXPECT_DOUBLE_EQ(value("2ms", Quantity::kTime), 2e-3);
  EXPECT_DOUBLE_EQ(value("3s", Quantity::kTime), 3);
  EXPECT_DOUBLE_EQ(value("0", Quantity::kTime), 0);
}

TEST(Quantity, WithAUnitIsTheVeryNumberThatItIsWithoutOne) {
  EXPECT_EQ(value("5us", Quantity::kTime), 5e-6);
  EXPECT_EQ(value("3ns", Quantity::kTime), 3e-9);
  EXPECT_EQ(value("1.5us", Quantity::kTime), 1.5e-6);
}

TEST(Quantity, TellsDecimalFromBinarySizes) {
  EXPECT_EQ(value("64KiB", Quantity::kSize), 65536);
  EXPECT_EQ(value("64kB", Quantity::kSize), 64000);
  EXPECT_EQ(value("64KB", Quantity::kSize), 64000);
  EXPECT_EQ(value("1.5MiB", Quantity::kSize), 1572864);
  EXPECT_EQ(value("7B", Quantity::kSize), 7);
  EXPECT_EQ(value("7", Quantity::kSize), 7);
}

TEST(Quantity, TellsBytesFromBitsPerSecond) {
  EXPECT_DOUBLE_EQ(value("10GBps", Quantity::kBandwidth), 10e9);
  EXPECT_DOUBLE_EQ(value("10GB/s", Quantity::kBandwidth), 10e9);
  EXPECT_DOUBLE_EQ(value("100Gbps", Quantity::kBandwidth), 12.5e9);
  EXPECT_DOUBLE_EQ(value("1GiBps", Quantity::kBandwidth), 1073741824);
  EXPECT_DOUBLE_EQ(value("8bps", Quantity::kBandwidth), 1);
  EXPECT_DOUBLE_EQ(value("1e10", Quantity::kBandwidth), 1e10);
}

TEST(Quantity, RejectsWhatIsNotAFiniteNumberThatIsNotNegative) {
  EXPECT_NE(why_not("", Quantity::kTime).find("is not a number"), std::string::npos);
  EXPECT_NE(why_not("fast", Quantity::kTime).find("'fast' is not a number"), std::string::npos);
  EXPECT_NE(why_not("nan", Quantity::kTime).find("not a finite number"), std::string::npos);
  EXPECT_NE(why_not("inf", Quantity::kTime).find("not a finite number"), std::string::npos);
  EXPECT_NE(why_not("-1us", Quantity::kTime).find("is negative"), std::string::npos);
  EXPECT_NE(why_not("1e999", Quantity::kTime).find("out of range"), std::string::npos);
  EXPECT_NE(why_not("1e300TB", Quantity::kSize).find("out of range"), std::string::npos);
}

TEST(Quantity, RejectsUnitsOfSomethingElse) {
  EXPECT_NE(why_not("1GB", Quantity::kTime).find("unknown unit"), std::string::npos);
  EXPECT_NE(why_not("1us", Quantity::kSize).find("unknown unit"), std::string::npos);
  EXPECT_NE(why_not("1GB", Quantity::kBandwidth).find("unknown unit"), std::string::npos);
  EXPECT_NE(why_not("1 us", Quantity::kTime).find("unknown unit"), std::string::npos);
}

TEST(Quantity, FormatsTheShortestNumberThatReadsBack) {
  EXPECT_EQ(format_number(1e-6), "1e-06");
  EXPECT_EQ(format_number(1e10), "1e+10");
  EXPECT_EQ(format_number(65536), "65536");
  for (const double number : {0.1, 1.0 / 3, 8e-11, 12.5e9, 1e-300}) {
    EXPECT_EQ(value(format_number(number), Quantity::kTime), number);
  }
}

}  // namespace
}  // namespace nplus1::netmodel
