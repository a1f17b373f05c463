// Wait states as JSON (docs/formats/waitstates.md) and for a terminal. Pure functions.
#pragma once

#include <string>

#include "hypothesis/waitstates/results.hpp"
#include "report/json_object.hpp"
#include "report/results.hpp"

namespace nplus1::hypothesis {

inline constexpr const char* kWaitStatesSchema = "nplus1-waitstates/1";

/// For whoever adds members of his own.
[[nodiscard]] report::JsonObject wait_states_object(const WaitStateResults& results);
[[nodiscard]] std::string wait_states_json(const WaitStateResults& results);
[[nodiscard]] std::string wait_states_text(const WaitStateResults& results, report::TextStyle style);

/// "MPI_Recv at exchange (halo.c:58)"; computing is named by its region, or by the call that ends it.
[[nodiscard]] std::string activity_title(const Activity& activity);

/// {"late_sender_s": ..., ...}: the states of a tally, as other documents hold them too.
[[nodiscard]] std::string states_object(const Tally& tally);

}  // namespace nplus1::hypothesis
