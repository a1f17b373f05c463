#include "support/program_name.hpp"

#include <gtest/gtest.h>

namespace nplus1 {
namespace {

TEST(ProgramName, IsTheFileOfTheProgram) {
  EXPECT_EQ(program_name({"./bin/solver", "--steps", "3"}), "solver");
  EXPECT_EQ(program_name({"solver"}), "solver");
  EXPECT_EQ(program_name({"python_like", "a.py"}), "python_like");
  EXPECT_EQ(program_name({"./solver.py", "a"}), "solver.py");
}

TEST(ProgramName, IsTheScriptOfAnInterpreter) {
  EXPECT_EQ(program_name({"python3", "runs/solver.py", "input"}), "solver.py");
  EXPECT_EQ(program_name({"/usr/bin/python3.11", "-u", "-W", "error", "solver.py"}), "solver.py");
  EXPECT_EQ(program_name({"python", "-m", "package.solver", "x"}), "package.solver");
  EXPECT_EQ(program_name({"python3", "-mpackage"}), "package");
  EXPECT_EQ(program_name({"python3", "-Im", "package", "x"}), "package");
  EXPECT_EQ(program_name({"python3", "-Xdev", "--", "solver.py"}), "solver.py");
  EXPECT_EQ(program_name({"python3", "-m", "mpi4py", "--prof", "mpe", "solver.py"}), "solver.py");
  EXPECT_EQ(program_name({"python3", "-m", "mpi4py.run", "-m", "solver"}), "solver");
}

TEST(ProgramName, IsTheInterpreterWhereItIsGivenNoFile) {
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {}, {"-c", "import solver"}, {"-"}, {"-u"}, {"-m"}, {""}, {"folder/"}}) {
    std::vector<std::string> command{"python3"};
    command.insert(command.end(), more.begin(), more.end());
    EXPECT_EQ(program_name(command), "python3");
  }
}

}  // namespace
}  // namespace nplus1
