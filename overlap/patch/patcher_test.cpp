// Each rewriting and each refusal, over sources of a few lines. What is given out has passed mpicc -fsyntax-only
// (Patcher checks that); what it does when it runs is tests/mpi/overlap_patch_test.py's.
#include "overlap/patch/patcher.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "overlap/patch/unified_diff.hpp"

namespace nplus1::overlap::patch {
namespace {
namespace fs = std::filesystem;

class Patches : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "nplus1-patch-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path() const { return (folder_ / name_).string(); }

  /// A request about all calls in lines that begin with MPI_Send, MPI_Recv or MPI_Sendrecv (behind blanks, `(void)`,
  /// an if or an assignment), with the wait before the line that says WAIT, else behind the last.
  Request request_for(const std::string& text) {
    std::ofstream{path()} << text;
    Chain chain;
    chain.id = "1";
    std::istringstream stream{text};
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
      if (line.find("WAIT") != std::string::npos) {
        chain.wait.where = WaitPlace::kBeforeLine;
        chain.wait.place = {path(), number};
      }
      if (line.find("SKIP") != std::string::npos) continue;
      for (const auto& [name, kind] : {std::pair{"MPI_Send(", CallKind::kSend},
                                       {"MPI_Ssend(", CallKind::kSend},
                                       {"MPI_Recv(", CallKind::kReceive},
                                       {"MPI_Sendrecv(", CallKind::kSendrecv}}) {
        if (line.find(name) == std::string::npos || line.find("#define") != std::string::npos) continue;
        Call call;
        call.place = {path(), number};
        call.function = std::string{name}.substr(0, std::string{name}.size() - 1);
        call.kind = kind;
        call.watched = watched_;
        chain.calls.push_back(call);
      }
    }
    Request request;
    request.chains.push_back(chain);
    if (!flags_.empty()) request.flags = flags_;
    return request;
  }

  ChainAnswer ask(const std::string& text) { return answer(request_for(text)).chains.at(0); }

  /// A function around statements.
  std::string in_function(const std::string& body) const {
    return "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\nvoid compute(double* x);\nint "
           "check(void);\n" +
           before_ +
           "void exchange(double* u, double* v, double* w, int n, int left, int right, int rank) {\n" + body +
           "}\n";
  }
  std::string lines_of_diff(char sign, const std::string& diff) const {
    std::istringstream stream{diff};
    std::string all;
    std::string line;
    while (std::getline(stream, line))
      if (line[0] == sign && line.substr(0, 3) != std::string(3, sign)) all += line.substr(1) + "\n";
    return all;
  }

  std::string added(const std::string& body) {
    const ChainAnswer chain = ask(in_function(body));
    EXPECT_FALSE(chain.refusal.has_value()) << chain.refusal->code << ": " << chain.refusal->reason;
    notes_ = chain.notes;
    return lines_of_diff('+', chain.diff);
  }
  std::string refused(const std::string& body) {
    const ChainAnswer chain = ask(in_function(body));
    EXPECT_TRUE(chain.refusal.has_value()) << chain.diff;
    EXPECT_TRUE(chain.diff.empty());
    if (!chain.refusal) return "";
    line_ = chain.refusal->place.line;
    return chain.refusal->code;
  }

  fs::path folder_;
  std::string name_ = "program.c";
  std::string flags_;
  std::string before_;
  std::vector<std::string> notes_;
  int line_ = 0;
  bool watched_ = true;
};

constexpr const char* kTwoShifts = R"(  MPI_Status a, b;
  MPI_Sendrecv(& u[1 * n], n, MPI_FLOAT, left, 0,
               & u[(1+1) * n], n, MPI_FLOAT, right, 0,
               MPI_COMM_WORLD, &a);

  MPI_Sendrecv(& u[1 * n], n, MPI_FLOAT, right, 0,
               & u[0 * n], n, MPI_FLOAT, left, 0,
               MPI_COMM_WORLD, &b);
  compute(u);  // WAIT
)";

TEST_F(Patches, LookAsThePaperPrintsThem) {
  EXPECT_EQ(added(kTwoShifts), R"(  MPI_Request req_8[4];
  MPI_Status status_8[4];
  MPI_Isend(& u[1 * n], n, MPI_FLOAT, left, 0, MPI_COMM_WORLD, &req_8[0]);
  MPI_Irecv(& u[(1+1) * n], n, MPI_FLOAT, right, 0, MPI_COMM_WORLD, &req_8[1]);
  MPI_Isend(& u[1 * n], n, MPI_FLOAT, right, 0, MPI_COMM_WORLD, &req_8[2]);
  MPI_Irecv(& u[0 * n], n, MPI_FLOAT, left, 0, MPI_COMM_WORLD, &req_8[3]);
  MPI_Waitall(4, req_8, status_8);
  *(&a) = status_8[1];
  *(&b) = status_8[3];
)");
}

TEST_F(Patches, OfSendAndReceiveChangeNothingButNamesAndRequests) {
  EXPECT_EQ(
      added(
          "  MPI_Send(u /* mine */, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);  // to the right\n"
          "  MPI_Recv(v,\n           n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE /* none */);\n"
          "  compute(v);\n"),
      "  MPI_Request req_7[2];\n"
      "  MPI_Isend(u /* mine */, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &req_7[0]);  // to the right\n"
      "  MPI_Irecv(v,\n           n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &req_7[1] /* none */);\n"
      "  MPI_Waitall(2, req_7, MPI_STATUSES_IGNORE);\n");
}

TEST_F(Patches, PutTheWaitBeforeTheStatementAskedFor) {
  EXPECT_EQ(added("  MPI_Send(u, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);\n"
                  "  MPI_Recv(v, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"
                  "  compute(w);\n  int i;\n#pragma GCC ivdep\n  for (i = 0; i < n; ++i)\n    w[i] += v[i];  "
                  "// WAIT\n"
                  "  compute(v);\n"),
            "  MPI_Request req_7[2];\n  MPI_Isend(u, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &req_7[0]);\n"
            "  MPI_Irecv(v, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &req_7[1]);\n"
            "  MPI_Waitall(2, req_7, MPI_STATUSES_IGNORE);\n");
}

TEST_F(Patches, KeepACommentInEveryPlaceOfACall) {
  const std::string text = added(
      "  MPI_Sendrecv(/*0*/ u, n, /*1*/ MPI_DOUBLE, right, // 2\n    0, // 3\n    /*4*/ v, n, MPI_DOUBLE, "
      "left, // 5\n"
      "    0 /*6*/, MPI_COMM_WORLD /*7*/, /*8*/ MPI_STATUS_IGNORE // 9\n  ); compute(w); /*a*/\n  "
      "compute(v);  // WAIT\n");
  for (const char* comment :
       {"/*0*/", "/*1*/", "// 2", "// 3", "/*4*/", "// 5", "/*6*/", "/*7*/", "/*8*/", "// 9", "/*a*/"})
    EXPECT_NE(text.find(comment), std::string::npos) << comment << " in\n" << text;
}

TEST_F(Patches, BeginWithNullRequestsWhereABranchMayPostNone) {
  EXPECT_EQ(added("  MPI_Status s;\n  if (rank > 0)\n    MPI_Sendrecv(u, 1, MPI_DOUBLE, left, 0, v, 1, "
                  "MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &s);\n"
                  "  if (rank < 3) {\n    MPI_Recv(w, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &s);\n  }\n  "
                  "compute(v);  // WAIT\n"),
            "  MPI_Request req_9[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};\n  MPI_Status "
            "status_9[3];\n"
            "    { MPI_Isend(u, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &req_9[0]);\n"
            "    MPI_Irecv(v, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &req_9[1]); }\n"
            "    MPI_Irecv(w, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &req_9[2]);\n"
            "  MPI_Waitall(3, req_9, status_9);\n"
            "  if (status_9[1].MPI_SOURCE != MPI_ANY_SOURCE) { *(&s) = status_9[1]; }\n"
            "  if (status_9[2].MPI_SOURCE != MPI_ANY_SOURCE) { *(&s) = status_9[2]; }\n");
}

TEST_F(Patches, AssignAStatusOnceWhereALaterCallIsSureToWriteItToo) {
  const std::string text = added(
      "  MPI_Status s;\n  MPI_Recv(u, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &s);\n"
      "  MPI_Recv(v, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, & s);\n  compute(v);\n");
  EXPECT_EQ(text.find("status_8[0]"), std::string::npos) << text;
  EXPECT_NE(text.find("*(&s) = status_8[1];"), std::string::npos) << text;
}

TEST_F(Patches, AskAPointerToAStatusWhetherItIsToBeIgnored) {
  const std::string text = added(
      "  MPI_Status* s = rank ? MPI_STATUS_IGNORE : malloc(sizeof(MPI_Status));\n"
      "  MPI_Recv(u, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, s);\n"
      "  MPI_Send(v, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);\n  compute(u);\n");
  EXPECT_NE(text.find("if ((s) != MPI_STATUS_IGNORE) *(s) = status_8[0];"), std::string::npos) << text;
}

TEST_F(Patches, CompleteTheStatusOfAReceiveFromNobodyWhereItIsLookedAt) {
  const std::string text = added(
      "  MPI_Status s;\n  MPI_Send(v, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);\n"
      "  MPI_Recv(u, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &s);\n  n = s.MPI_SOURCE;\n");
  EXPECT_NE(text.find("  if ((left) == MPI_PROC_NULL) { status_8[1].MPI_SOURCE = MPI_PROC_NULL; "
                      "status_8[1].MPI_TAG = MPI_ANY_TAG; }\n  *(&s) = status_8[1];\n"),
            std::string::npos)
      << text;
}

TEST_F(Patches, StandInBracesInC89) {
  flags_ = "-std=c89 -pedantic-errors";
  EXPECT_EQ(
      added("  compute(w);\n  MPI_Send(u, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);\n"
            "  MPI_Recv(v, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n  compute(v);\n"),
      "  {\n  MPI_Request req_8[2];\n  MPI_Isend(u, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &req_8[0]);\n"
      "  MPI_Irecv(v, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &req_8[1]);\n"
      "  MPI_Waitall(2, req_8, MPI_STATUSES_IGNORE);\n  }\n");
}

TEST_F(Patches, TakeAnotherNameWhereTheirsIsTaken) {
  before_ = "int req_8;\n";
  EXPECT_NE(added("  MPI_Send(u, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);\n"
                  "  MPI_Recv(v, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n")
                .find("MPI_Request req_8b[2];"),
            std::string::npos);
}

TEST_F(Patches, KeepACastToVoidAndTheLineEndsOfTheFile) {
  const std::string text = added(
      "  (void)MPI_Sendrecv(u, 1, MPI_DOUBLE, left, 0, v, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, "
      "MPI_STATUS_IGNORE);\n"
      "  (void) MPI_Send(u, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);\n  compute(v);\n");
  EXPECT_NE(
      text.find(
          "  (void)MPI_Isend(u, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &req_7[0]);\n  (void)MPI_Irecv("),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("  (void) MPI_Isend(u, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &req_7[2]);"),
            std::string::npos)
      << text;
}

TEST_F(Patches, OfTwoChainsApplyTogether) {
  Request request = request_for(in_function(
      "  MPI_Send(u, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);\n"
      "  MPI_Recv(v, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n  compute(v);\n"
      "  MPI_Send(u, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD);\n"
      "  MPI_Recv(w, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n  compute(w);\n"));
  request.chains.push_back(request.chains[0]);
  request.chains[0].calls.erase(request.chains[0].calls.begin() + 2, request.chains[0].calls.end());
  request.chains[1].calls.erase(request.chains[1].calls.begin(), request.chains[1].calls.begin() + 2);
  request.chains.push_back(request.chains[1]);
  const Answer all = answer(request);
  EXPECT_FALSE(all.chains[0].refusal.has_value());
  EXPECT_FALSE(all.chains[1].refusal.has_value());
  ASSERT_TRUE(all.chains[2].refusal.has_value());
  EXPECT_EQ(all.chains[2].refusal->code, "other_chain");
  EXPECT_NE(all.diff.find("req_7[2]"), std::string::npos);
  EXPECT_NE(all.diff.find("req_10[2]"), std::string::npos);
  EXPECT_EQ(all.root, fs::weakly_canonical(folder_).string());
}

TEST_F(Patches, OfCppKnowVectorsLambdasAndTemplates) {
  name_ = "program.cpp";
  std::ofstream{folder_ / "x"} << "";
  const ChainAnswer chain = ask(R"(#include <mpi.h>
#include <vector>
template <class T>
struct Grid {
  std::vector<T> data;
  void exchange(int left, int right, MPI_Datatype type) {
    std::vector<double> out(3);
    MPI_Send(out.data(), 3, type, right, 0, MPI_COMM_WORLD);
    MPI_Recv(&data[0], 3, type, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    auto twice = [](int x) { return 2 * x; };
    int four = twice(2);  // WAIT
    data[0] += four;
  }
};
template struct Grid<double>;
)");
  ASSERT_FALSE(chain.refusal.has_value()) << chain.refusal->reason;
  EXPECT_NE(chain.diff.find("MPI_Irecv(&data[0], 3, type, left, 0, MPI_COMM_WORLD, &req_8[1]);"),
            std::string::npos);
}

TEST_F(Patches, SayWhereAPostCouldHaveBeenEarlier) {
  Request request =
      request_for(in_function("  compute(w);\n  MPI_Send(u, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);\n"
                              "  MPI_Recv(v, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"));
  request.chains[0].calls[1].post_receive_after = 6;
  const ChainAnswer chain = answer(request).chains.at(0);
  ASSERT_EQ(chain.notes.size(), 1U);
  EXPECT_NE(chain.notes[0].find("line 9: the receive is posted in the place of the call"), std::string::npos)
      << chain.notes[0];
  EXPECT_NE(chain.notes[0].find("behind line 6"), std::string::npos) << chain.notes[0];
}

// What has to be before the wait moves the wait up, with a note.

constexpr const char* kPair =
    "  MPI_Send(u, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);\n"
    "  MPI_Recv(v, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n";

struct Between {
  const char* name;
  const char* statement;
  const char* reason;
};
void PrintTo(const Between& between, std::ostream* out) {
  *out << between.name;
}

class WaitsThatMoveUp : public Patches, public testing::WithParamInterface<Between> {};

TEST_P(WaitsThatMoveUp, StandBeforeWhatMustNotBeBetween) {
  before_ = "static double table[8];\n";
  const std::string text = added(std::string{kPair} + "  " + GetParam().statement +
                                 "\n  compute(w);\n  compute(v);  // WAIT\nout:\n  (void)w;\n");
  EXPECT_NE(text.find("MPI_Waitall"), std::string::npos);
  ASSERT_EQ(notes_.size(), 1U) << text;
  EXPECT_NE(notes_[0].find("before line 10, earlier than asked for"), std::string::npos) << notes_[0];
  EXPECT_NE(notes_[0].find(GetParam().reason), std::string::npos) << notes_[0];
}

INSTANTIATE_TEST_SUITE_P(
    Patches, WaitsThatMoveUp,
    testing::Values(Between{"Return", "if (n == 0) return;", "a return"},
                    Between{"Goto", "if (n == 0) goto out;", "a goto"},
                    Between{"Exit", "if (n == 0) exit(1);", "exit between"},
                    Between{"Label", "again: if (n == 7) { n = 8; compute(w); goto again; }", "a label"},
                    Between{"BranchWithBuffer", "if (n == 1) w[0] = v[0];", "in a branch"},
                    Between{"BranchWithCall", "if (n == 1) compute(w);", "in a branch"},
                    Between{"BranchWithPointer", "if (n == 1) w[0] = 3;", "a pointer is followed"},
                    Between{"OverwrittenInBranch", "if (n == 1) u[0] = 3;", "in a branch"},
                    Between{"ConditionalOperator", "n = n == 1 ? (int)v[0] : 0;", "in a branch"},
                    Between{"ShortCircuit", "n = n == 1 && v[0] > 0;", "in a branch"},
                    Between{"Switch", "switch (n) { case 1: v[0] = 1; break; default: break; }",
                            "in a branch"},
                    Between{"Barrier", "MPI_Barrier(MPI_COMM_WORLD);", "MPI_Barrier stands"},
                    Between{"Finalize", "MPI_Finalize();", "MPI_Finalize stands"}),
    [](const auto& test) { return test.param.name; });

class WaitsThatStay : public Patches, public testing::WithParamInterface<Between> {};

TEST_P(WaitsThatStay, HaveHarmlessCodeBetween) {
  before_ = "static double table[8];\n";
  added(std::string{kPair} + "  " + GetParam().statement + "\n  compute(w);\n  compute(v);  // WAIT\n");
  EXPECT_TRUE(notes_.empty()) << notes_[0];
}

INSTANTIATE_TEST_SUITE_P(
    Patches, WaitsThatStay,
    testing::Values(Between{"Computing", "for (int i = 0; i < n; ++i) w[i] = 2 * u[i];", ""},
                    Between{"BreakOfItsOwnLoop", "for (int i = 0; i < n; ++i) if (i == 3) break;", ""},
                    Between{"ReadingWhatIsSent", "w[0] = u[0];", ""},
                    Between{"PrintingInABranch", "if (rank == 0) printf(\"%d\\n\", n);", ""},
                    Between{"AbortInABranch", "if (n < 0) MPI_Abort(MPI_COMM_WORLD, 1);", ""},
                    Between{"IntegersInABranch", "if (rank == 0) n = n + 1;", ""},
                    Between{"WatchedInteriorOfTheBuffer", "v[5] = w[3];", ""},
                    Between{"Allreduce",
                            "MPI_Allreduce(MPI_IN_PLACE, w, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);", ""}),
    [](const auto& test) { return test.param.name; });

TEST_F(Patches, MoveTheWaitUpToWhatNobodyWatched) {
  watched_ = false;
  before_ = "static double out[4], in[4];\n";
  added(
      "  MPI_Send(out, 4, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);\n"
      "  MPI_Recv(in, 4, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"
      "  n = 3;\n  compute(w);\n  compute(in);  // WAIT\n");
  ASSERT_EQ(notes_.size(), 1U);
  EXPECT_NE(notes_[0].find("before line 11"), std::string::npos) << notes_[0];
}

TEST_F(Patches, WaitAtTheEndOfALoopBodyForATouchInTheNextRound) {
  const ChainAnswer chain = ask(in_function("  for (int i = 0; i < 9; ++i) {\n    compute(v);  // WAIT\n" +
                                            std::string{kPair} + "    compute(w);\n  }\n"));
  ASSERT_FALSE(chain.refusal.has_value()) << chain.refusal->reason;
  EXPECT_EQ(chain.wait.line, 12);
}

TEST_F(Patches, WaitBeforeTheReturnThatEndsTheBlock) {
  Request request = request_for(in_function(std::string{kPair} + "  compute(w);\n  return;\n"));
  request.chains[0].wait.where = WaitPlace::kEndOfBlock;
  const ChainAnswer chain = answer(request).chains.at(0);
  ASSERT_FALSE(chain.refusal.has_value()) << chain.refusal->reason;
  EXPECT_EQ(chain.wait.line, 10);
  EXPECT_TRUE(chain.notes.empty());
}

// Refusals.

constexpr const char* kSecond =
    "  MPI_Recv(v, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n  compute(v);\n";

struct Unsafe {
  const char* name;
  const char* before;
  const char* first;  ///< statement before kSecond
  const char* code;
};
void PrintTo(const Unsafe& unsafe, std::ostream* out) {
  *out << unsafe.name;
}

class Refusals : public Patches, public testing::WithParamInterface<Unsafe> {};

TEST_P(Refusals, NameTheirReason) {
  before_ = GetParam().before;
  EXPECT_EQ(refused("  double x = 0; MPI_Status st;\n  " + std::string{GetParam().first} + "\n" + kSecond),
            GetParam().code);
}

#define SEND "MPI_Send(u, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD)"
INSTANTIATE_TEST_SUITE_P(
    Patches, Refusals,
    testing::Values(
        Unsafe{"MacroAround", "#define CHECK(x) do { if ((x) != 0) abort(); } while (0)\n",
               "CHECK(" SEND ");", "macro"},
        Unsafe{"MacroOfTheCall", "#define SEND(p) MPI_Send(p, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD)\n",
               "SEND(u); /* MPI_Send( */", "macro"},
        Unsafe{"MacroOfArguments", "#define WHERE 1, 0, MPI_COMM_WORLD\n",
               "MPI_Send(u, n, MPI_DOUBLE, WHERE);", "macro"},
        Unsafe{
            "PreprocessorInTheCall", "",
            "MPI_Send(u, n,\n#ifdef X\n MPI_FLOAT,\n#else\n MPI_DOUBLE,\n#endif\n right, 0, MPI_COMM_WORLD);",
            "macro"},
        Unsafe{"ReturnValueKept", "", "int e = " SEND "; (void)e;", "return_value"},
        Unsafe{"ReturnValueTested", "", "if (" SEND ") abort();", "return_value"},
        Unsafe{"Comma", "", "n = 2, " SEND ";", "return_value"},
        Unsafe{"ForHeader", "", "for (" SEND "; n < 0; ++n) {}", "return_value"},
        Unsafe{"StatementExpression", "", "({ " SEND "; });", "statement_expression"},
        Unsafe{"ReturnBetween", "", SEND "; if (n == 3) return;", "jump"},
        Unsafe{"OverwrittenBetween", "", "MPI_Send(&x, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD); x = 3;",
               "touch"},
        Unsafe{"CountReceivedJustBefore", "",
               "MPI_Recv(&n, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", "touch"},
        Unsafe{"StatusUsedBetween", "",
               "MPI_Recv(u, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &st); n = st.MPI_TAG;", "status"},
        Unsafe{"StatusAskedBetween", "",
               "MPI_Recv(u, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &st); MPI_Get_count(&st, MPI_INT, &n);",
               "status"},
        Unsafe{
            "StatusIndexChanges", "",
            "MPI_Status s[2]; int k = 0; MPI_Recv(u, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &s[k]); k = 1;",
            "status"},
        Unsafe{"StatusWithEffect", "",
               "MPI_Status s[2]; int k = 0; MPI_Recv(u, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &s[k++]);",
               "status_expression"},
        Unsafe{"StatusBehindAMacro", "#define NONE MPI_STATUS_IGNORE\n",
               "MPI_Recv(u, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, NONE);", "status_expression"},
        Unsafe{"AnySource", "",
               "MPI_Recv(u, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
               "any_source"},
        Unsafe{"BufferOfAnInnerBlock", "",
               "if (rank) { double t[4]; MPI_Send(t, 4, MPI_DOUBLE, right, 0, MPI_COMM_WORLD); }", "scope"},
        Unsafe{"InALoop", "", "for (int i = 0; i < 3; ++i) { " SEND "; }", "loop"},
        Unsafe{"InASwitch", "", "switch (n) { case 1: " SEND "; }", "loop"},
        Unsafe{"BehindALabel", "", "again: " SEND "; if (n > 7) { n = 0; goto again; }", "loop"},
        Unsafe{"Synchronous", "", "MPI_Ssend(u, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);", "function"},
        Unsafe{"CompoundLiteral", "", "MPI_Send((double[]){1, 2}, 2, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);",
               "temporary"},
        Unsafe{"CommunicatorWithEffect", "MPI_Comm next_comm(void);\n",
               "MPI_Sendrecv(u, 1, MPI_INT, 0, 0, w, 1, MPI_INT, 0, 0, next_comm(), MPI_STATUS_IGNORE);",
               "side_effect"},
        Unsafe{"OneOfTwoConditions", "", "\n#ifndef NEVER\n  " SEND ";\n#endif\n", "preprocessor"},
        Unsafe{"SwitchedOffReturn", "", SEND ";\n#ifdef NEVER\n  return;\n#endif\n", "preprocessor"},
        Unsafe{"UnwatchedBranchBetween", "", SEND "; if (n == 3) compute(w);", "branch"},
        Unsafe{"BarrierBetween", "", SEND "; MPI_Barrier(MPI_COMM_WORLD);", "mpi_call"}),
    [](const auto& test) { return test.param.name; });

TEST_F(Patches, AreRefusedForSeveralCallsInALine) {
  EXPECT_EQ(
      refused("  " SEND
              "; MPI_Recv(v, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n  compute(v);\n"),
      "several_calls");
}

TEST_F(Patches, AreRefusedForACallMadeTwice) {
  Request request = request_for(in_function("  for (int i = 0; i < 2; ++i)\n  " SEND ";\n"));
  request.chains[0].calls.push_back(request.chains[0].calls[0]);
  EXPECT_EQ(answer(request).chains[0].refusal->code, "loop");
}

TEST_F(Patches, AreRefusedWhereNothingSaysThatBuffersAreDisjoint) {
  watched_ = false;
  EXPECT_EQ(refused(kPair), "same_buffer");
}

TEST_F(Patches, AreGivenUnwatchedWhereTheSourceShowsThatBuffersAreDisjoint) {
  watched_ = false;
  before_ = "static double out[4], in[4];\n";
  const std::string text = added(
      "  MPI_Send(out, 4, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);\n"
      "  MPI_Recv(in, 4, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n");
  EXPECT_NE(text.find("MPI_Isend(out, 4, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, "), std::string::npos) << text;
  EXPECT_NE(text.find("MPI_Irecv(in, 4, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, "), std::string::npos) << text;
}

TEST_F(Patches, AreRefusedForBuffersOfACaller) {
  Request request =
      request_for(in_function(kPair) + "void caller(void) {\n  exchange(0, 0, 0, 0, 0, 0, 0);\n}\n");
  request.chains[0].wait.where = WaitPlace::kBeforeLine;
  request.chains[0].wait.place = {path(), 11};
  const ChainAnswer chain = answer(request).chains[0];
  ASSERT_TRUE(chain.refusal.has_value());
  EXPECT_EQ(chain.refusal->code, "other_function");
  EXPECT_EQ(chain.refusal->place.line, 11);
}

TEST_F(Patches, AreRefusedForAWaitStraightBehindASingleCall) {
  EXPECT_EQ(refused("  " SEND ";\n  compute(u);\n"), "no_gain");
}

TEST_F(Patches, AreRefusedForASourceThatChangedSinceItWasBuilt) {
  Request request = request_for(in_function(kPair));
  request.sources.push_back({path(), 1e9, std::nullopt});
  EXPECT_EQ(answer(request).chains[0].refusal->code, "changed");
  request.sources[0] = {path(), std::nullopt, 7U};
  EXPECT_EQ(answer(request).chains[0].refusal->code, "changed");
  request.sources[0] = {path(), 1e11, std::nullopt};
  EXPECT_FALSE(answer(request).chains[0].refusal.has_value());
}

TEST_F(Patches, AreRefusedForLinesWithoutTheCall) {
  Request request = request_for(in_function(kPair));
  request.chains[0].calls[0].place.line = 4;
  EXPECT_EQ(answer(request).chains[0].refusal->code, "not_found");
  request.chains[0].calls[0].place.line = 8;
  EXPECT_EQ(answer(request).chains[0].refusal->code, "not_found");
  request.chains[0].calls[0].place.line = 900;
  EXPECT_EQ(answer(request).chains[0].refusal->code, "not_found");
  request.chains[0].calls[0].place = {path() + ".gone", 1};
  request.chains[0].calls[1].place = {path() + ".gone", 2};
  EXPECT_EQ(answer(request).chains[0].refusal->code, "no_source");
}

TEST_F(Patches, AreRefusedForWhatIsNoFile) {
  Request request = request_for(in_function(kPair));
  for (const char* device : {"/dev/zero", "/dev/tty", "/"}) {
    const std::string link = path() + ".device.c";
    std::filesystem::create_symlink(device, link);
    request.chains[0].calls[0].place = {link, 1};
    request.chains[0].calls[1].place = {link, 2};
    const auto refusal = answer(request).chains[0].refusal;
    ASSERT_TRUE(refusal.has_value()) << device;
    EXPECT_TRUE(refusal->code == "no_source" || refusal->code == "outside")
        << device << ": " << refusal->code;
    std::filesystem::remove(link);
  }
}

TEST_F(Patches, AreRefusedForSourcesThatDoNotParse) {
  EXPECT_EQ(refused(std::string{kPair} + "  int 3 = x;\n"), "not_parsed");
}

TEST_F(Patches, OfFortranAreAdviceWithLines) {
  name_ = "halo.f90";
  const ChainAnswer chain = ask("call MPI_Send(u, n)\ncall MPI_Recv(v, n)\ncall compute(v) ! WAIT\n");
  EXPECT_EQ(chain.refusal->code, "fortran");
  EXPECT_NE(chain.advice.find("line 1: MPI_Isend with req_1(1)"), std::string::npos) << chain.advice;
  EXPECT_NE(chain.advice.find("line 2: MPI_Irecv with req_1(2)"), std::string::npos) << chain.advice;
  EXPECT_NE(chain.advice.find("before line 3: call MPI_Waitall(2, req_1"), std::string::npos) << chain.advice;
}

TEST_F(Patches, OfCppRefuseTemporariesAndExceptions) {
  name_ = "program.cpp";
  const std::string head =
      "#include <mpi.h>\n#include <vector>\nstd::vector<double> packed();\nvoid compute();\nvoid f(double* "
      "v) {\n";
  const std::string receive = "  MPI_Recv(v, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n";
  EXPECT_EQ(
      ask(head + "  MPI_Send(packed().data(), 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);\n" + receive + "}\n")
          .refusal->code,
      "temporary");
  EXPECT_EQ(ask(head + "  MPI_Send(v, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);\n  if (v == nullptr) throw 3;\n" +
                receive + "}\n")
                .refusal->code,
            "jump");
  EXPECT_EQ(ask(head + " try {\n MPI_Send(v, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);\n  compute();\n" +
                receive + "} catch (...) {}\n}\n")
                .refusal->code,
            "exception");
}

TEST_F(Patches, OfCppKnowThatMpiTakesRanksByValue) {
  name_ = "program.cpp";
  const std::string call =
      "  MPI_Sendrecv(u, 1, MPI_INT, left, 0, u + 9, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &s);\n"
      "  MPI_Sendrecv(u, 1, MPI_INT, right, 0, u + 7, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &s);\n";
  const std::string head =
      "#include <mpi.h>\nvoid change(int&);\nint f(int* u, int left, int right) {\n  MPI_Status s;\n";
  const std::string tail = "  return s.MPI_TAG;  // WAIT\n}\n";
  EXPECT_FALSE(ask(head + call + tail).refusal.has_value());
  const ChainAnswer chain = ask(head + call + "  change(right);\n" + tail);
  ASSERT_TRUE(chain.refusal.has_value());
  EXPECT_EQ(chain.refusal->code, "status_expression");
}

TEST_F(Patches, UseTheFlagsOfTheCompilationDatabase) {
  Request request = request_for(
      "#include <mpi.h>\n#include \"sizes.h\"\nvoid f(double* u, double* v) {\n"
      "  MPI_Send(u, COUNT, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);\n"
      "  MPI_Recv(v, COUNT, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n}\n");
  EXPECT_EQ(answer(request).chains[0].refusal->code, "not_parsed");
  fs::create_directory(folder_ / "with space");
  std::ofstream{folder_ / "with space" / "sizes.h"} << "#define COUNT 3\n";
  std::ofstream{folder_ / "compile_commands.json"}
      << R"([{"directory": ")" << folder_.string() << R"(", "file": "program.c", )"
      << R"("command": "mpicc.mpich -O2 -Wall -DTAG=5 -I 'with space' -MD -MF x.d -o program.o -c program.c"}])";
  request.compile_commands = folder_.string();
  const ChainAnswer chain = answer(request).chains[0];
  EXPECT_FALSE(chain.refusal.has_value()) << chain.refusal->reason;
  request.chains[0].calls[0].place.file = request.chains[0].calls[1].place.file =
      (folder_ / "other.c").string();
  std::ofstream{folder_ / "other.c"} << "int x;\n";
  EXPECT_EQ(answer(request).chains[0].refusal->code, "not_parsed");
}

TEST_F(Patches, OfAnIncludedFileAreParsedWithTheFileThatIncludesIt) {
  name_ = "halo.h";
  Request request = request_for(
      "static void f(double* u, double* v) {\n  MPI_Send(u, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);\n"
      "  MPI_Recv(v, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n}\n");
  std::ofstream{folder_ / "main.c"}
      << "#include <mpi.h>\n#include \"halo.h\"\nint main(void) { f(0, 0); return 0; }\n";
  request.chains[0].unit = (folder_ / "main.c").string();
  const ChainAnswer chain = answer(request).chains[0];
  ASSERT_FALSE(chain.refusal.has_value()) << chain.refusal->reason;
  EXPECT_EQ(chain.diff.rfind("--- a/halo.h\n", 0), 0U);
}

}  // namespace
}  // namespace nplus1::overlap::patch
