// How the members of OpenMP's teams wait for each other on a host with fewer cores than the job has processes.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/run/job.hpp"

namespace nplus1::cli {

/// A variable of the job's environment by which libgomp's threads sleep while they wait (NAME, VALUE). By default they spin for
/// milliseconds, each on a core that the one that it waits for may need; what they take meanwhile is not charged
/// (docs/architecture.md, "OpenMP's regions"), so that only real time changes. Empty where there is a core for each process or
/// no program has parallel regions of GCC's, where the user has said how they are to wait, and where `mpi_words` or sections
/// name hosts, whose cores nobody knows.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> how_teams_wait(
    const std::vector<Section>& sections, const std::vector<std::string>& mpi_words);

}  // namespace nplus1::cli
