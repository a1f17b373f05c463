// nplus1-simnode: started by the keeper of a job (stubs/runtime/launch/keeper.hpp), never by hand. Says
// `ready MEETING` on stdout when ranks can connect (stubs/transport/meeting.hpp; a secret: no terminal gets it);
// ends when its stdin ends and the results are written. Exit codes: 0; 1 when it could not start (the reason is on stderr, and in the result folder's error.txt);
// 74 when no summary could be written; 75 when there was nothing to write, as not all ranks came.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include "simnode/node/network.hpp"
#include "simnode/node/node.hpp"

namespace {

/// Its stderr is read by nobody but who asks for it (NPLUS1_SIMNODE_LOG).
int fail(const nplus1::Error& error) {
  std::fprintf(stderr, "nplus1-simnode: %s\n%s\n", error.what.c_str(), error.remedy.c_str());
  if (const char* folder = std::getenv("NPLUS1_OUTPUT"); folder != nullptr && *folder != '\0')
    nplus1::simnode::node::leave_trouble(folder,
                                         {"the simulator could not start: " + error.what, error.remedy});
  return 1;
}

}  // namespace

int main(int argc, char** argv) try {
  using namespace nplus1;
  using namespace nplus1::simnode::node;
  if (argc != 3 || std::string_view{argv[1]} != "--job")
    return fail({"started without --job NAME", "run programs with: nplus1 run -n RANKS -- PROGRAM"});
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error to report, like a full disk
  auto read = settings_from_environment();
  if (!read.ok()) return fail(read.error());
  Settings settings = std::move(read).value();
  auto network = network_maker(settings);
  if (!network.ok()) return fail(network.error());
  auto collectives = netmodel::Selection::parse(settings.collectives);
  if (!collectives.ok()) return fail(collectives.error());

  Node node{std::move(settings), std::move(network).value(), std::move(collectives).value()};
  const auto meeting = node.listen();
  if (!meeting) {
    return fail(
        {std::string{"cannot listen for ranks: "} + std::strerror(errno), "free some descriptors or memory"});
  }
  std::printf("ready %s\n", meeting->word().c_str());
  std::fflush(stdout);
  return static_cast<int>(node.run(STDIN_FILENO));
} catch (const std::exception& error) {
  return fail({error.what(), "please report it, with the command"});
}
