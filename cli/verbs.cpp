#include "cli/verbs.hpp"

namespace nplus1::cli {

void add_verbs(const Registration& registration) {
  add_run(registration);
  add_doctor(registration);
  add_demo(registration);
}

}  // namespace nplus1::cli
