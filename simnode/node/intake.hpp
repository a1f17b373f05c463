// What becomes of a rank's events: ids made global, definitions told, sums taken; calls go to the recording and to the
// engine, or, of native recordings, to whom they are recorded for. Of one thread.
#pragma once

#include "events/sink.hpp"
#include "simnode/engine/recorder.hpp"
#include "simnode/node/job_ranks.hpp"
#include "simnode/node/native_intake.hpp"
#include "simnode/node/port.hpp"
#include "simnode/node/rank_accounts.hpp"
#include "simnode/node/translator.hpp"
#include "support/ids.hpp"

namespace nplus1::simnode::node {

class Intake {
 public:
  /// `definitions`: who is told what ids mean. `recorder`, `native`: null where there is none.
  Intake(JobRanks& ranks, RankAccounts& accounts, Translator& translator, events::EventSink& definitions,
         engine::Recorder* recorder, NativeIntake* native)
      : ranks_{ranks},
        accounts_{accounts},
        translator_{translator},
        definitions_{definitions},
        recorder_{recorder},
        native_{native} {}

  /// The next event of a rank, complete in its port. False: the rank says that it can no longer be observed.
  bool take(RankId rank, Port& port);

 private:
  void take_call(RankId rank, const events::Event& event, std::span<const std::byte> extension,
                 const events::Detail* detail);

  JobRanks& ranks_;
  RankAccounts& accounts_;
  Translator& translator_;
  events::EventSink& definitions_;
  engine::Recorder* recorder_;
  NativeIntake* native_;
};

}  // namespace nplus1::simnode::node
