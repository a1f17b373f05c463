#include "guidelines/raw_data.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>

namespace nplus1::guidelines {
namespace {

namespace fs = std::filesystem;

class RawData : public testing::Test {
 protected:
  RawData() : folder_{fs::temp_directory_path() / ("nplus1-raw-data-" + std::to_string(getpid()))} {
    fs::create_directories(folder_);
  }
  ~RawData() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) {
    std::ofstream{folder_ / name, std::ios::binary} << text;
    return folder_ / name;
  }
  Result<RawFileContents> read(const std::string& text, int mpirun = 0, int processes = 0) {
    rows_.clear();
    return read_raw({write("raw.csv", text), mpirun, processes},
                    [this](const Measurement& m, const Settings&) { rows_.push_back(m); });
  }
  std::string error_of(const std::string& text) {
    const auto contents = read(text);
    return contents ? "" : contents.error().what;
  }

  fs::path folder_;
  std::vector<Measurement> rows_;
};

const std::string kHead = csv_head({});

TEST_F(RawData, WhatIsWrittenIsReadBackExactly) {
  const Measurement a{3, "Gather_with_Allgather", 16, 7, 1024, 0.1 + 0.2, 1e-7 / 3, false};
  const Measurement b{4, "Gather", 2, 0, 0, 0.5, {}, true};
  const auto contents =
      read(csv_head({{"nrep", "100"}, {"mpi_library", "two\nlines"}}) + csv_row(a) + csv_row(b));
  ASSERT_TRUE(contents.ok()) << contents.error().what;
  EXPECT_EQ(contents.value().rows, 2U);
  EXPECT_FALSE(contents.value().cut_off);
  EXPECT_EQ(contents.value().settings.at("mpi_library"), "two lines");
  ASSERT_EQ(rows_.size(), 2U);
  EXPECT_EQ(rows_[0].mpirun, 3);
  EXPECT_EQ(rows_[0].test, a.test);
  EXPECT_EQ(rows_[0].processes, 16);
  EXPECT_EQ(rows_[0].repetition, 7U);
  EXPECT_EQ(rows_[0].size, 1024U);
  EXPECT_EQ(rows_[0].seconds, a.seconds);
  EXPECT_EQ(rows_[0].without_copies, a.without_copies);
  EXPECT_TRUE(rows_[1].censored);
  EXPECT_EQ(rows_[1].seconds, 0.5);
  EXPECT_FALSE(rows_[1].without_copies);
}

TEST_F(RawData, ReproMpisLinesAreRead) {
  const auto contents = read(
      "#MPI calls:\n#@nprocs=4\n#@datatype_size_bytes=8\n"
      "                  test       nrep        count    runtime_sec\n"
      "         MPI_Allreduce          0            1   0.0000123000\n"
      "         MPI_Allreduce          1            1   0.0000100000\n",
      5);
  ASSERT_TRUE(contents.ok()) << contents.error().what;
  ASSERT_EQ(rows_.size(), 2U);
  EXPECT_EQ(rows_[0].test, "Allreduce");
  EXPECT_EQ(rows_[0].mpirun, 5);
  EXPECT_EQ(rows_[0].processes, 4);
  EXPECT_EQ(rows_[0].size, 8U);
  EXPECT_DOUBLE_EQ(rows_[0].seconds, 12.3e-6);
}

TEST_F(RawData, PgmpisLinesAreReadWithNodesTimesProcessesOnEach) {
  ASSERT_TRUE(read("#@nodes=3\n#@nnp=2\ntest nrep msize runtime_sec\nMPI_Bcast 0 100 1e-5\n").ok());
  EXPECT_EQ(rows_.at(0).processes, 6);
  EXPECT_EQ(rows_.at(0).size, 100U);
}

TEST_F(RawData, ALineThatAKillCutOffIsLeftOut) {
  const auto contents = read(kHead + "0,Bcast,2,0,8,1e-6,\n0,Bcast,2,1");
  ASSERT_TRUE(contents.ok());
  EXPECT_TRUE(contents.value().cut_off);
  EXPECT_EQ(rows_.size(), 1U);
}

TEST_F(RawData, SettingsAndColumnNamesMayComeAgainAfterAnInterruption) {
  ASSERT_TRUE(read(csv_head({{"run", "1"}}) + "0,Bcast,2,0,8,1e-6,\n" + csv_head({{"run", "2"}}) +
                   "1,Bcast,2,0,8,1e-6,\n")
                  .ok());
  EXPECT_EQ(rows_.size(), 2U);
}

TEST_F(RawData, ErrorsNameFileAndLine) {
  EXPECT_NE(error_of(kHead + "0,Bcast,2,0,8,soon,\n").find("raw.csv, line 2: 'runtime_sec'"),
            std::string::npos);
  EXPECT_NE(error_of(kHead + "0,Bcast,2,0,8,-1,\n").find("'runtime_sec'"), std::string::npos);
  EXPECT_NE(error_of(kHead + "0,Bcast,2,0,8\n").find("5 fields and not 7"), std::string::npos);
  EXPECT_NE(error_of(kHead + "0,Bcast,two,0,8,1,\n").find("'p'"), std::string::npos);
  EXPECT_NE(error_of("0,Bcast,2,0,8,1,\n").find("line 1: it comes before"), std::string::npos);
  EXPECT_NE(error_of("#@a=b\n").find("no line of column names"), std::string::npos);
  EXPECT_NE(
      error_of("#@nodes=2147483647\n#@nnp=2147483647\ntest nrep msize runtime_sec\nMPI_Bcast 0 100 1e-5\n")
          .find("#@nprocs="),
      std::string::npos);
  EXPECT_NE(error_of("#@nprocs=4\n#@datatype_size_bytes=8\ntest nrep count runtime_sec\nMPI_Bcast 0 "
                     "2305843009213693953 1e-5\n")
                .find("too many elements"),
            std::string::npos);
  EXPECT_NE(error_of("test nrep msize runtime_sec\nMPI_Bcast 0 100 1e-5\n").find("#@nprocs="),
            std::string::npos);
  EXPECT_FALSE(read_raw({folder_ / "absent.csv"}, [](const Measurement&, const Settings&) {}).ok());
}

TEST_F(RawData, OnlyFilesWithMeasurementsAreTaken) {
  write("b.csv", kHead);
  write("a.dat", "#@nprocs=4\ntest nrep msize runtime_sec\n");
  write("readme.txt", "hello\n");
  write("violations.json", "{}");
  const auto files = raw_files(folder_);
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files.value().size(), 2U);
  EXPECT_EQ(files.value()[0].filename(), "a.dat");
  EXPECT_FALSE(raw_files(folder_ / "absent").ok());
}

TEST_F(RawData, NoBytesMakeTheReaderFail) {
  const std::string good = kHead + "0,Bcast,2,0,8,1e-6,1e-7\n1,Bcast_with_Allgatherv,2,0,8,>1e-6,\n#@a=b\n";
  std::mt19937 random{1};
  std::size_t readable = 0;
  for (int round = 0; round < 500; ++round) {
    std::string bad = good;
    for (int i = 0; i < 3; ++i) bad[random() % bad.size()] = static_cast<char>(random());
    readable += read(bad.substr(0, random() % bad.size())) ? 1U : 0U;
  }
  EXPECT_GT(readable, 10U);
  EXPECT_LT(readable, 490U);
}

}  // namespace
}  // namespace nplus1::guidelines
