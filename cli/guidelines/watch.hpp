// What the parts of `nplus1 guidelines` that measure show on stderr meanwhile. One thread.
#pragma once

#include "analyses/guidelines/folder.hpp"
#include "analyses/guidelines/variants.hpp"

namespace nplus1::cli {

/// mpirun's command line and, on a terminal, one line with the time left; not if `quiet`. What the ranks print is passed on.
[[nodiscard]] analyses::MeasuringWatch measuring_watch(bool quiet);
/// With notes of what could not be measured.
[[nodiscard]] analyses::VariantsWatch variants_watch(bool quiet);

/// On stdout, if there are some.
void print_undecided(const analyses::Undecided& undecided);

}  // namespace nplus1::cli
