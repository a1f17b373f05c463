// Names of functions as debug information gives them, shortened for people. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace nplus1::events {

/// A function's name without its parameters: "ns::Solver::step" of "ns::Solver::step(double&, int) const",
/// "(anonymous namespace)::f" of "(anonymous namespace)::f(int)". C and Fortran names are returned as they
/// are.
[[nodiscard]] std::string_view without_parameters(std::string_view function);

/// What a person calls it: no parameters, template arguments, return type or anonymous namespaces.
/// "void ns::Solver<double>::step(int)" -> "ns::Solver::step".
[[nodiscard]] std::string spoken_name(std::string_view function);

}  // namespace nplus1::events
