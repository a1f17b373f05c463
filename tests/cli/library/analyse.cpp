// Prints what a recording shows, one fact a line, for library_test.py.
#include <cstdio>
#include <nplus1/analyses.hpp>

namespace api = nplus1::api;

template <class T>
const T* value_of(const api::Outcome<T>& outcome) {
  if (outcome) return &*outcome;
  std::printf("error %s; %s\n", outcome.error().what.c_str(), outcome.error().remedy.c_str());
  return nullptr;
}

int main(int, char** argv) {
  const std::string recording = argv[1];
  if (const auto replayed = api::replay(recording); const auto* r = value_of(replayed))
    std::printf("replay %.12f %.12f %d\n", r->virtual_time_s, r->recorded_virtual_time_s, r->identity);
  if (const auto found = api::find_wait_states(recording); const auto* w = value_of(found))
    std::printf("parallel_efficiency %.12g\n", w->metrics.at("parallel_efficiency"));
  if (const auto found = api::find_collectives(recording); const auto* c = value_of(found))
    for (const api::Collective& each : c->all)
      std::printf("collective %s %s %zu\n", each.kind.c_str(), each.certainty.c_str(), each.count);
  if (const auto found = api::find_fixes(recording); const auto* f = value_of(found))
    for (const api::Change& change : f->changes)
      if (change.leads) std::printf("fix %.12g %s\n", change.saved_s, change.what.c_str());
  if (const auto compared = api::compare(recording, {{"balance", "all"}}); const auto* c = value_of(compared))
    std::printf("balanced %.12f\n", c->after.at("virtual_time_s"));
  if (const auto compared = api::compare(recording, {{"balance", "nonsense"}})) return 1;
  api::Where on_platform;
  if (argv[2] != nullptr) {
    on_platform.platform = argv[2];
    if (const auto replayed = api::replay(recording, on_platform); const auto* r = value_of(replayed))
      std::printf("platform %.12f\n", r->virtual_time_s);
  }
  static_cast<void>(value_of(api::replay("nowhere")));
  return 0;
}
