#include "report/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

namespace nplus1::report {
namespace {

namespace fs = std::filesystem;

class FilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "nplus1-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string contents(const fs::path& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  [[nodiscard]] std::size_t files_in_folder() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator{folder_}, {}));
  }
  fs::path folder_;
};

/// Files may not grow beyond `bytes` while this lives: the kernel then writes short, and fails the next
/// write, as on a full disk.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_{std::signal(SIGXFSZ, SIG_IGN)} {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(FilesTest, TheFileHoldsWhatWasWrittenAndNothingElseIsLeft) {
  ASSERT_TRUE(write_file(folder_ / "a", "hello\n").ok());
  EXPECT_EQ(contents(folder_ / "a"), "hello\n");
  EXPECT_EQ(files_in_folder(), 1U);
}

TEST_F(FilesTest, AFullDiskIsAnErrorThatNamesTheFileAndLeavesNothing) {
  const std::string large(100'000, 'x');
  const auto written = [&] {
    const SmallDisk disk{4096};
    return write_file(folder_ / "large", large);
  }();
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().what.find("large"), std::string::npos);
  EXPECT_NE(written.error().remedy.find("space"), std::string::npos);
  EXPECT_EQ(files_in_folder(), 0U);
}

TEST_F(FilesTest, AFailedWriteLeavesTheOlderFileUntouched) {
  ASSERT_TRUE(write_file(folder_ / "a", "older").ok());
  const std::string large(100'000, 'x');
  {
    const SmallDisk disk{4096};
    ASSERT_FALSE(write_file(folder_ / "a", large).ok());
  }
  EXPECT_EQ(contents(folder_ / "a"), "older");
}

TEST_F(FilesTest, AMissingFolderIsAnError) {
  const auto written = write_file(folder_ / "absent" / "a", "x");
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().what.find("absent/a"), std::string::npos);
}

TEST_F(FilesTest, WhatIsNoRegularFileIsWrittenToAsItIs) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_TRUE(write_file(pipe, "hello\n").ok());
  char read_back[16] = {};
  EXPECT_EQ(read(reader, read_back, sizeof(read_back)), 6);
  close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_FALSE(write_file("/dev/full", "hello\n").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(FilesTest, ALinkStaysAndItsFileIsReplaced) {
  ASSERT_TRUE(write_file(folder_ / "file", "old").ok());
  fs::create_symlink("file", folder_ / "link");
  ASSERT_TRUE(write_file(folder_ / "link", "new").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(contents(folder_ / "file"), "new");
}

}  // namespace
}  // namespace nplus1::report
