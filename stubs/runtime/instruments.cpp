#include "stubs/runtime/instruments.hpp"

#include <cstdio>
#include <string>

#include "stubs/access/watch.hpp"
#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/runtime.hpp"
#include "stubs/runtime/twins.hpp"
#include "stubs/twin/twin.hpp"

namespace nplus1::stubs {

Instruments::Instruments(Settings& settings, Line& line) : settings_{settings}, line_{line} {}

Instruments::~Instruments() = default;

void Instruments::begin_capture() {
  call_paths_ =
      std::make_unique<CallPaths>(settings_.frames, [this](CallSiteId id, const std::string& frames) {
        events::Event event;
        event.kind = events::EventKind::kSiteDefine;
        event.site = id;
        event.aux = frames.size();
        line_.write_text(event, frames);
      });
  if (!settings_.record) return;
  capture_ =
      std::make_unique<Capture>(settings_, [this](DatatypeId id, const std::string& name, MPI_Count size) {
        events::Event event;
        event.kind = events::EventKind::kDatatypeDefine;
        event.aux = id.value;
        event.size = size;
        event.tag = static_cast<std::int32_t>(name.size());
        line_.write_text(event, name);
      });
}

void Instruments::forget(MPI_Datatype type) {
  if (capture_) capture_->forget(type);
  if (accesses_) accesses_->typemaps().forget(type);
}

void Instruments::begin_accesses(RankId me) {
  if (!settings_.accesses) return;
  if (const std::string why = access::begin(settings_.compute == ComputeMode::kMeasured); !why.empty()) {
    std::fprintf(stderr, "nplus1: rank %d: accesses are not recorded: %s\n", me.value, why.c_str());
    settings_.accesses = false;
    return;
  }
  accesses_ = std::make_unique<Accesses>();
  static constexpr WrapperHooks kHooks{access::enter, access::leave};
  set_wrapper_hooks(&kHooks);
}

void Instruments::begin_twins(Runtime& runtime) {
  if (!settings_.twins || accesses_ || runtime.native()) return;
  if (!twin::begin()) return;
  twins_ = std::make_unique<Twins>(runtime);
  static constexpr WrapperHooks kHooks{[]() noexcept {},
                                       []() noexcept {
                                         if (active())
                                           guarded([] { nplus1::stubs::runtime()->twins()->leave(); });
                                       }};
  set_wrapper_hooks(&kHooks);
}

Duration Instruments::table_length(MpiCall call, const void* return_address) {
  const std::string_view function = events::name(call);
  const std::string& place = call_paths_->place(return_address);
  for (const semantics::ComputeRule& rule : settings_.rules)
    if (rule.fits(function, place)) return rule.length;
  return Duration{-1};
}

}  // namespace nplus1::stubs
