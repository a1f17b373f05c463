// Messages and their buffers: posting and checking either side.
#pragma once

#include "tests/random_programs/script.hpp"

namespace random_programs {

enum class SendWay { send, ssend, bsend, rsend, isend, issend, ibsend, freed };
enum class ReceiveWay { recv, irecv, probe, iprobe, mprobe, mprobe_imrecv, improbe };

/// The buffer of one side; its address is part of `call`, so it stays where it is.
struct Part {
  /// `simple`: of the base type, at its address.
  Part(Script& s, const Message& m, long extra, bool simple = false);
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  /// Frees the types: MPI keeps them as long as it needs them.
  void typed();

  Layout layout;
  int elements;
  Memory memory;
  Argument call;
};

/// What `from` calls `to` in the communicator.
int address(const Communicator& c, int from, int to);
/// Between two members, with a tag that no other message has; not posted yet.
Message random_message(Script& s, const Communicator& c);

std::shared_ptr<Part> outgoing(Script& s, const Message& m, bool simple = false);
std::shared_ptr<Part> incoming(Script& s, const Message& m, bool simple = false);
void check_sent(Script& s, const Message& m, Part& part);
void check_received(Script& s, const Message& m, Part& part, const MPI_Status& status);
/// The data alone.
void check_data(Script& s, const Message& m, Part& part);

/// Called by all ranks; those whose side it is make the call.
void post_send(Script& s, const Message& m, SendWay way);
void post_receive(Script& s, const Message& m, ReceiveWay way, bool any_source, bool any_tag);

}  // namespace random_programs
