#include "events/frame_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nplus1::events {
namespace {

/// "MODULE|OFFSET|BUILDID" of each.
std::vector<std::string> told(std::string_view text) {
  std::vector<std::string> all;
  for (const Frame& f : frames_of(text))
    all.push_back(f.module + '|' + std::to_string(f.offset) + '|' + f.build_id);
  return all;
}

using All = std::vector<std::string>;

TEST(FramesOf, AreOneForEachLine) {
  EXPECT_EQ(told("/bin/app+0x1a2b 00ff\n?\n/lib/libc.so.6+0x10"),
            (All{"/bin/app|6699|00ff", "|0|", "/lib/libc.so.6|16|"}));
  EXPECT_EQ(told(""), All{});
}

TEST(FramesOf, APathMayHaveNewlinesSpacesAndWhatLooksLikeAnOffset) {
  EXPECT_EQ(told("/a\nb\n\nc+0x1 ff\n/plus+0xno\npe+0x2\n/with a space+0x3\n/x+0x4 y+0x5 6"),
            (All{"/a\nb\n\nc|1|ff", "/plus+0xno\npe|2|", "/with a space|3|", "/x+0x4 y|5|6"}));
}

TEST(FramesOf, WhatEndsNoFrameIsAnEmptyOne) {
  EXPECT_EQ(told("/a+0x1\n/b\nc"), (All{"/a|1|", "|0|"}));
  EXPECT_EQ(told("\n"), All{"|0|"});
}

/// "FUNCTION|FILE|LINE" of each.
std::vector<std::string> sources(std::string_view text) {
  std::vector<std::string> all;
  for (const Frame& f : frames_of(text))
    all.push_back(f.function + '|' + f.file + '|' + std::to_string(f.line));
  return all;
}

TEST(FramesOf, OfAnInterpreterHaveTheirSource) {
  EXPECT_EQ(sources("python:12:Solver.step:/home/u/solver.py\n/bin/app+0x1\npython:3:<module>:a b.py"),
            (All{"Solver.step|/home/u/solver.py|12", "||0", "<module>|a b.py|3"}));
  EXPECT_EQ(sources("python:1:a\\:b\\\\c\\nd:/e:f\\\\g\\nh"), All{"a:b\\c\nd|/e:f\\g\nh|1"});
  EXPECT_EQ(sources("python:0::"), All{"||0"});
}

TEST(FramesOf, WhatOnlyBeginsLikeAnInterpretersIsAPath) {
  EXPECT_EQ(told("/a\npython:3:f:/x+0x12 ff\npython:x+0x7"), (All{"/a\npython:3:f:/x|18|ff", "python:x|7|"}));
  EXPECT_EQ(sources("python:99999999999:f:g"), All{"||0"});
  EXPECT_EQ(sources("python:4\n/b+0x1"), All{"||0"});
}

}  // namespace
}  // namespace nplus1::events
