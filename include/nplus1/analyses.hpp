// What nplus1 finds in a recording (the folder of `nplus1 run --record full`), for C++ programs and for whatever binds to
// them. Link nplus1::nplus1 (find_package(nplus1), or pkg-config nplus1).
//
// Every function reads the recording, replays it where it must, and returns an Outcome: a value, or an Error that says what is
// wrong and what to do. Nothing is printed and nothing is thrown but std::bad_alloc. Replays are children of the process:
// call from one thread, in a process without MPI. Times are seconds of virtual time. `json` is the document that the command
// writes with --json; docs/formats has it, and it has more than the structs.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#define NPLUS1_PUBLIC __attribute__((visibility("default")))

namespace nplus1::api {

struct Error {
  std::string what;    // cause and place
  std::string remedy;  // what to do
};

template <class T>
class Outcome {
 public:
  Outcome(T value) : state_{std::move(value)} {}
  Outcome(Error error) : state_{std::move(error)} {}
  explicit operator bool() const { return state_.index() == 0; }
  const T& operator*() const { return std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  /// Where there is no value.
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// Where a recording is replayed. What is empty is as recorded.
struct Where {
  std::string network;      // "lsb:latency=1us,bandwidth=10GBps", "loggops:L=2us,o=1us,G=1e-10"
  std::string platform;     // a SimGrid platform instead
  std::string map;          // ranks on the platform's hosts
  std::string collectives;  // algorithms: "openmpi,bcast=chain"
  double compute_scale = 1;
  std::size_t jobs = 0;  // replays at a time; 0: as many as cores
};

struct Replayed {
  std::string application, network;
  double virtual_time_s = 0, recorded_virtual_time_s = 0;
  std::vector<double> rank_end_s;
  double compute_share = 0, communication_share = 0;
  bool identity = false;  // everything was as recorded: then the times must be, too
  bool finished = false;  // every rank reached its end
};
NPLUS1_PUBLIC Outcome<Replayed> replay(const std::string& recording, const Where& where = {});

/// Virtual times, efficiencies and wait states by name, as --fail-if of the command knows them.
using Metrics = std::map<std::string, double>;

struct WaitStates {
  std::string application;
  std::size_t ranks = 0;
  Metrics metrics;
  std::string json;
};
NPLUS1_PUBLIC Outcome<WaitStates> find_wait_states(const std::string& recording);

/// One change of the program or the network, alone, and what it would save.
struct Change {
  std::string
      kind;  // "balance", "by_hand", "replace", "exchange", "collectives", "overlap", "network", "messages", "noise"
  std::string what;   // a sentence
  std::string flags;  // of nplus1 whatif
  double virtual_time_s = 0, saved_s = 0;
  std::optional<double> systematic_s;  // of a balance, if it was told apart from what comes and goes
  std::size_t problem = 0;             // from 1, the most worthwhile first; 0: no advice
  bool leads = false;                  // the change to show for its problem
  bool bound = false;                  // what something costs at most: no advice
  bool finished = false;
};
struct Fixes {
  double virtual_time_s = 0;
  std::vector<Change> changes;
  std::string json;
};
NPLUS1_PUBLIC Outcome<Fixes> find_fixes(const std::string& recording, std::size_t jobs = 0);

/// The program before and after: `changes` are pairs of a transformation and its settings, as the options of nplus1 whatif:
/// {"balance", "all"}, {"scale", "region=solve,factor=0.5"}.
struct Comparison {
  std::vector<std::string> hypothesis;  // in words
  Metrics before, after;
  std::string json;
};
NPLUS1_PUBLIC Outcome<Comparison> compare(const std::string& recording,
                                          const std::vector<std::pair<std::string, std::string>>& changes,
                                          const Where& where = {});

/// A hand-written collective operation.
struct Collective {
  std::string kind;       // "bcast"
  std::string certainty;  // "certain", "probable", "possible"
  std::vector<std::string> lines;
  std::size_t count = 0;           // how many times
  std::optional<double> saving_s;  // by the library's operation, if priced
};
struct Collectives {
  std::vector<Collective> all;
  std::string json;
};
NPLUS1_PUBLIC Outcome<Collectives> find_collectives(const std::string& recording, bool price = false,
                                                    const Where& where = {});

}  // namespace nplus1::api
