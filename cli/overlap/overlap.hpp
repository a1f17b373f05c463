// What `nplus1 overlap` was asked for, shared by its parts.
#pragma once

#include <string>

#include "analyses/overlap.hpp"
#include "analyses/patch.hpp"
#include "cli/replay/replay.hpp"
#include "cli/verbs.hpp"

namespace nplus1::cli {

inline constexpr const char* kOverlapFile = "overlap.json";
inline constexpr const char* kOverlapMeasuredFile = "overlap-measured.json";

struct OverlapWords : analyses::OverlapOptions {
  OverlapWords() { words.most_rows = analyses::kOverlapRows; }

  ReplayWords words;   // source, network, collectives, jobs, output, json: in place of the options' `replay`
  double percent = 5;  // of the run that a finding saves
  std::string progress_word = "asynchronous";
  std::string patch;  // file for the diff
  analyses::PatchOptions compiled;
  bool addresses = false;  // instead of source lines

  /// The options, once the words are known.
  [[nodiscard]] analyses::OverlapOptions options() const;
};

/// --events and --most.
void declare_bounds(CLI::App& verb, OverlapWords& words);

/// `nplus1 overlap project`.
void add_overlap_project(CLI::App& parent, const Registration& registration);

/// `nplus1 overlap measure`.
void add_overlap_measure(CLI::App& parent, const Registration& registration);

/// The measurement beside a recording; empty where there is none.
[[nodiscard]] std::string measured_text_in(const std::string& source);

}  // namespace nplus1::cli
