#include "events/function_name.hpp"

#include <gtest/gtest.h>

namespace nplus1::events {
namespace {

TEST(FunctionName, LosesItsParameters) {
  EXPECT_EQ(without_parameters("CommSend(Domain&, int, double& (Domain::**)(int), bool)"), "CommSend");
  EXPECT_EQ(without_parameters("ns::Solver::step(double&, int) const"), "ns::Solver::step");
  EXPECT_EQ(without_parameters("void exchange<int>(std::vector<int>&) [clone .part.0]"),
            "void exchange<int>");
}

TEST(FunctionName, KeepsParenthesesThatAreNoParameters) {
  EXPECT_EQ(without_parameters("(anonymous namespace)::exchange(int)"), "(anonymous namespace)::exchange");
  EXPECT_EQ(without_parameters("Functor::operator()(int)"), "Functor::operator()");
  EXPECT_EQ(without_parameters("main::{lambda(int)#1}::operator()(int) const"),
            "main::{lambda(int)#1}::operator()");
  EXPECT_EQ(without_parameters("(anonymous namespace)"), "(anonymous namespace)");
}

TEST(FunctionName, OfCAndFortranStaysAsItIs) {
  EXPECT_EQ(without_parameters("main"), "main");
  EXPECT_EQ(without_parameters("exchange_"), "exchange_");
  EXPECT_EQ(without_parameters(""), "");
}

TEST(FunctionName, AsAPersonSaysIt) {
  EXPECT_EQ(spoken_name("main"), "main");
  EXPECT_EQ(spoken_name("void ns::Solver<double, std::vector<int>>::step<3>(double&, int) const"),
            "ns::Solver::step");
  EXPECT_EQ(spoken_name("(anonymous namespace)::exchange(int)"), "exchange");
  EXPECT_EQ(spoken_name("ns::Functor<int>::operator()(int)"), "ns::Functor::operator()");
  EXPECT_EQ(spoken_name("std::ostream& operator<< <Field>(std::ostream&, Field const&)"), "operator<<");
  EXPECT_EQ(spoken_name("void* ns::Pool<8>::operator new(unsigned long)"), "ns::Pool::operator new");
  EXPECT_EQ(spoken_name("main::{lambda(int)#1}::operator()(int) const"), "main::{lambda(int)#1}::operator()");
  EXPECT_EQ(spoken_name("unsigned long count(int)"), "count");
}

}  // namespace
}  // namespace nplus1::events
