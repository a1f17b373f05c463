// The rank's own matching: the messages that it has been told of and the receives that it has posted, as the simulator
// has them (semantics/mailbox.hpp); time stamps straight from rank to rank; and receives whose native part waits until it
// is known which message they get. With the runtime's lock held. Nothing fails.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "events/event.hpp"
#include "netmodel/network_model.hpp"
#include "semantics/mailbox.hpp"
#include "stubs/runtime/communicators/communicators.hpp"
#include "stubs/runtime/line/line.hpp"
#include "stubs/runtime/requests/requests.hpp"
#include "stubs/transport/inbox.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::stubs {

class Messages {
 public:
  Messages(Line& line, RequestTable& requests) : line_{line}, requests_{requests} {}

  /// `direct`: stamps go through the segment.
  void begin(const netmodel::NetworkModel& network, RankId me, int ranks, const transport::Segment& segment,
             bool direct);
  [[nodiscard]] bool direct() const { return direct_; }

  [[nodiscard]] RequestId next_request_id() { return RequestId{++last_request_}; }
  /// Numbers a message to `destination` and, in direct mode, sends its stamp there.
  std::uint64_t publish(const Communicator& comm, RankId destination, std::int32_t tag, Bytes size,
                        bool rendezvous, Time at);
  [[nodiscard]] semantics::Mailbox& mailbox() { return mailbox_; }
  /// Takes in what others have published. False if the memory that is shared with them is damaged.
  bool absorb();
  /// Removes a message that the simulator gave to a matched probe; its stamp may still be on its way.
  void take(const Communicator& comm, RankId source, std::uint64_t sequence);
  /// A receive of mine, known to the mailbox under its request id, has met `message`.
  void settle(Request& request, const semantics::Message& message) const;
  /// The simulator has matched a receive that could not be matched here: its native receive can be posted now. On
  /// networks with contention it is told of twice, when it is matched and when its message is there.
  void matched_elsewhere(const events::Answer& match);

  /// Posts the native receive of a held request: from (source, tag), ranks in its communicator.
  void post_held(Request& request, int source, std::int32_t tag);
  /// All of them, as they were asked for, and in that order, which MPI matches by.
  void post_all_held();

  /// Whether receives of this rank wait for the simulator to match them.
  [[nodiscard]] bool wait_for_decisions() const { return undecided_ > 0; }
  void count_undecided(Communicator& comm, int change);
  /// Frees natively what the application freed while MPI still needed it, once it does not.
  static void free_if_due(Communicator& comm);

 private:
  void take_stamp(const transport::Stamp& stamp);

  Line& line_;
  RequestTable& requests_;
  const netmodel::NetworkModel* network_ = nullptr;
  RankId me_{};
  bool direct_ = false;
  std::optional<transport::StampSender> stamps_out_;
  std::optional<transport::StampReceiver> stamps_in_;
  semantics::Mailbox mailbox_;
  std::vector<std::uint64_t> sent_to_;                   // messages so far, by destination
  std::unordered_map<std::uint64_t, bool> taken_early_;  // (source, sequence) matched before the stamp came
  std::uint32_t last_request_ = 0;
  std::uint32_t undecided_ = 0;  // over all communicators
};

}  // namespace nplus1::stubs
