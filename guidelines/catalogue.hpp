// The catalogue of performance guidelines: which MPI function must not be slower than which mock-up made of
// other functions (Hunold, Carpen-Amarie, Träff 2016, appendix; docs/formats/guidelines.md has the file
// format). Read by the measuring verb, to know what to time, and by the analysis, to know what to compare.
// Pure but for read_catalogue(); any thread. A bad file is an Error that names file, line and what to do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace nplus1::guidelines {

/// One entry. Without a mock-up it stands for monotony and split-robustness of `original`.
struct Guideline {
  std::string original;              // "Allgather"
  std::string mock_up;               // "Allgather_with_Gather_Bcast"; empty: monotony and split-robustness
  std::string bound;                 // for people: "Gather(n) + Bcast(p n)"
  std::string set;                   // "pgmpi", "tunelib", "nonblocking", ...: what --set chooses by
  std::vector<std::uint64_t> sizes;  // ascending; what a size counts: bytes_of_all()

  [[nodiscard]] bool is_pattern() const { return !mock_up.empty(); }
};

struct Catalogue {
  std::vector<Guideline> guidelines;
};

/// The sizes of entries that name none: 1 B to 100 KiB (the paper's range), with sizes that are no powers of
/// two.
[[nodiscard]] const std::vector<std::uint64_t>& default_sizes();

/// `name` is what messages call the file.
[[nodiscard]] Result<Catalogue> parse_catalogue(const std::string& text, const std::string& name);
[[nodiscard]] Result<Catalogue> read_catalogue(const std::filesystem::path& file);

/// The inverse of parse_catalogue().
[[nodiscard]] std::string catalogue_text(const Catalogue& catalogue);

/// `base` with the entries of `more`; an entry of the same original and mock-up is replaced.
[[nodiscard]] Catalogue merged(Catalogue base, const Catalogue& more);

/// Only the entries of these sets and these originals; an empty list admits all.
[[nodiscard]] Catalogue selected(const Catalogue& catalogue, const std::vector<std::string>& sets,
                                 const std::vector<std::string>& originals);

/// One thing to time: an original or a mock-up, with all sizes that a guideline needs, ascending.
struct SizedTest {
  std::string name;
  std::vector<std::uint64_t> sizes;
};

/// Each test once, originals before mock-ups of theirs, in the catalogue's order.
[[nodiscard]] std::vector<SizedTest> tests_of(const Catalogue& catalogue);

/// Our name of a test, whoever wrote it: "MPI_Gather_with_MPI_Allgather" and "Gather_with_Allgather" are one.
[[nodiscard]] std::string canonical_name(std::string_view name);

/// Equal for all spellings of one test: PGMPI's MPI_Allgather_with_MPI_Gather_MPI_Bcast, ReproMPI's
/// GL_Allgather_as_GatherBcast, PGMPITuneLib's allgather_as_gather_bcast.
[[nodiscard]] std::string spelling_key(std::string_view name);

/// "Allgather" of "Allgather_with_Gather_Bcast"; a name without parts is returned as it is.
[[nodiscard]] std::string original_of(std::string_view test);
/// {"Reduce_scatter_block", "Gather"} of "Reduce_with_Reduce_scatter_block_Gather".
[[nodiscard]] std::vector<std::string> parts_of(std::string_view test);

/// A size n is one process's block for Gather, Scatter, Allgather, Alltoall, Reduce_scatter(_block) and the
/// neighbourhood forms, the whole vector elsewhere: the bytes of all blocks together, which is the volume of
/// the paper's section 2.
[[nodiscard]] bool counts_a_block(std::string_view original);
[[nodiscard]] std::uint64_t bytes_of_all(std::string_view original, std::uint64_t size, int processes);

/// 512, 4K, 10000, 1M: multiples of 1024 are shortened.
[[nodiscard]] std::string size_text(std::uint64_t size);

/// Names of tests that only a measurement knows: the original once more (an A/A comparison), and k calls of a
/// smaller size, which stand at the large size (the confirmation of a split violation).
[[nodiscard]] std::string again_name(std::string_view original);  // "Bcast_again"
[[nodiscard]] std::string split_name(std::string_view original, std::uint64_t calls, std::uint64_t size);

}  // namespace nplus1::guidelines
