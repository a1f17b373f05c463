#include "simnode/node/intake.hpp"

#include "events/clock_question.hpp"

namespace nplus1::simnode::node {

bool Intake::take(RankId rank, Port& port) {
  events::Event event = port.assembler.event();
  JobRank& from = ranks_[rank];
  if (event.kind == events::EventKind::kNone) {
    from.looks = static_cast<std::uint32_t>(event.aux >> 32U);
    from.moves = static_cast<std::uint32_t>(event.aux);
    return true;
  }
  ++from.events;
  if (event.kind == events::EventKind::kOutcome && event.extension == 0) return false;
  auto extension = port.assembler.extension();
  if (event.kind == events::EventKind::kWarmTime)
    return accounts_.take_warm_time(rank, event, extension), true;
  if (event.kind == events::EventKind::kFinalize) {
    from.finalized = true;
    extension = accounts_.take_last(rank, event, extension);
  }
  if (!translator_.take(rank, event, extension, definitions_)) return true;
  from.last_call = event.call;
  from.last_site = event.site;
  take_call(rank, event, extension, port.assembler.detail());
  return true;
}

void Intake::take_call(RankId rank, const events::Event& event, std::span<const std::byte> extension,
                       const events::Detail* detail) {
  events::Detail told;
  if (detail != nullptr) {
    told = *detail;
    told.datatype = translator_.datatype(rank, told.datatype);
    detail = &told;
  }
  if (native_ != nullptr) return native_->take(rank, event, extension, detail);
  if (event.has(events::kNeedsAnswer)) ++ranks_[rank].asked;
  if (recorder_ != nullptr && !events::is_clock_question(event))
    recorder_->pushed(rank, event, Translator::lists(event, extension), detail);
  translator_.push(rank, event, extension);
}

}  // namespace nplus1::simnode::node
