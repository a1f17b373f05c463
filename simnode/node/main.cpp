// nplus1-simnode: started by the keeper of a job (stubs/runtime/keeper.hpp), never by hand. Says
// `ready NAME ADDRESS` on stdout when ranks can connect; ends when its stdin ends and the results are
// written. Exit codes: 0; 1 when it could not start (the reason is on stderr).
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string_view>

#include "simnode/node/network.hpp"
#include "simnode/node/node.hpp"

namespace {

int fail(const nplus1::Error& error) {
  std::fprintf(stderr, "nplus1-simnode: %s\n%s\n", error.what.c_str(), error.remedy.c_str());
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
  const std::uint16_t port = node.listen(argv[2]);
  if (port == 0) return fail({"cannot listen for ranks", "look for another simulator of the same job"});
  char host[256] = "localhost";
  gethostname(host, sizeof(host) - 1);
  std::printf("ready %s %s:%u\n", argv[2], host, static_cast<unsigned>(port));
  std::fflush(stdout);
  node.run(STDIN_FILENO);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "nplus1-simnode: %s\n", error.what());
  return 1;
}
