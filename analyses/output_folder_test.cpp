#include "analyses/output_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace nplus1::analyses {
namespace {

namespace fs = std::filesystem;

/// Each test works in a folder of its own.
class OutputFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "nplus1-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    scratch_ = name;
    before_ = fs::current_path();
    fs::current_path(scratch_);
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(scratch_);
  }
  fs::path scratch_;
  fs::path before_;
};

TEST_F(OutputFolderTest, EachRunGetsTheFirstFreeNumber) {
  EXPECT_EQ(OutputFolder::next("app", 16).value().path().filename(), "nplus1-app-16-1");
  EXPECT_EQ(OutputFolder::next("app", 16).value().path().filename(), "nplus1-app-16-2");
  EXPECT_EQ(OutputFolder::next("app", 4).value().path().filename(), "nplus1-app-4-1");
  std::ofstream{"nplus1-app-16-3"} << "a file is in the way";
  EXPECT_EQ(OutputFolder::next("app", 16).value().path().filename(), "nplus1-app-16-4");
}

TEST_F(OutputFolderTest, PreviewNamesTheFolderWithoutMakingIt) {
  EXPECT_EQ(preview_next("app", 2).filename(), "nplus1-app-2-1");
  EXPECT_FALSE(fs::exists("nplus1-app-2-1"));
}

TEST_F(OutputFolderTest, ANewOrEmptyFolderIsTakenAndAFullOneRefused) {
  EXPECT_TRUE(fs::is_directory(OutputFolder::at("new").value().path()));
  EXPECT_TRUE(fs::is_directory(OutputFolder::at("new/").value().path()));
  std::ofstream{"new/result"} << "older";
  EXPECT_FALSE(OutputFolder::at("new").ok());
  EXPECT_FALSE(OutputFolder::at("new/result").ok());
  EXPECT_FALSE(OutputFolder::at("new/result/below").ok()) << "below a file";
  std::string kept;
  std::getline(std::ifstream{"new/result"}, kept);
  EXPECT_EQ(kept, "older");
}

TEST_F(OutputFolderTest, WhatIsMissingAboveItIsMadeToo) {
  EXPECT_TRUE(fs::is_directory(OutputFolder::at("a/b/c").value().path()));
  EXPECT_TRUE(fs::is_directory(OutputFolder::at("a/b/d/").value().path()));
}

TEST_F(OutputFolderTest, OnlyAnEmptyFolderThatWeMadeIsRemoved) {
  OutputFolder::at("ours").value().remove_if_empty();
  EXPECT_FALSE(fs::exists("ours"));
  fs::create_directory("theirs");
  OutputFolder::at("theirs").value().remove_if_empty();
  EXPECT_TRUE(fs::exists("theirs"));
  const auto full = OutputFolder::at("full").value();
  std::ofstream{"full/result"} << "x";
  full.remove_if_empty();
  EXPECT_TRUE(fs::exists("full/result"));
}

}  // namespace
}  // namespace nplus1::analyses
