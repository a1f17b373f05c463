#include "cli/verbs.hpp"

#include "cli/settings_file.hpp"

namespace nplus1::cli {

void add_verbs(const Registration& registration) {
  add_run(registration);
  add_report(registration);
  add_patterns(registration);
  add_where(registration);
  add_collectives(registration);
  add_replay(registration);
  add_clock(registration);
  add_calibrate(registration);
  add_waitstates(registration);
  add_whatif(registration);
  add_overlap(registration);
  add_map(registration);
  add_guidelines(registration);
  add_diff(registration);
  add_convert(registration);
  add_check(registration);
  add_doctor(registration);
  add_demo(registration);
  use_settings_file(registration.app);
  for (CLI::App* verb : verbs_of(registration.app)) verb->group("Verbs");
  registration.app.footer("Each verb has its own --help and man page: nplus1-run(1), ...");
}

}  // namespace nplus1::cli
