// nplus1-patch: a request on standard input, an answer on standard output (docs/formats/patch.md). `nplus1 overlap
// DIR --patch FILE` starts it. Exit code 0 with an answer, refusals among them; 2 for what is no request.
#include <exception>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "overlap/patch/patcher.hpp"
#include "overlap/patch/request.hpp"

namespace {

constexpr int kBadInput = 2;

int run() {
  const std::string text{std::istreambuf_iterator<char>{std::cin}, {}};
  const auto request = nplus1::overlap::patch::parse_request(text);
  if (!request) {
    std::cerr << "nplus1-patch: " << request.error().what << "\n  next: " << request.error().remedy << "\n";
    return kBadInput;
  }
  std::cout << nplus1::overlap::patch::to_json(nplus1::overlap::patch::answer(request.value())) << std::flush;
  return std::cout.good() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool help = std::string_view{argv[1]} == "--help";
    (help ? std::cout : std::cerr)
        << "usage: nplus1-patch < REQUEST.json > ANSWER.json\n"
           "Makes blocking MPI calls in C and C++ sources non-blocking, as unified diffs;\n"
           "`nplus1 overlap DIR --patch FILE` asks it. docs/formats/patch.md has the formats.\n";
    return help ? 0 : kBadInput;
  }
  try {
    return run();
  } catch (const std::exception& failure) {
    std::cerr << "nplus1-patch: " << failure.what() << "\n";
    return 1;
  }
}
