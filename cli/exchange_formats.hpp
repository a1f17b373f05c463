// The formats that `nplus1 convert` knows, behind one interface, and which one a name stands for.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "events/exchange/exchange.hpp"

namespace nplus1::cli {

enum class Format { kRecording, kOtf2, kCsv, kJsonLines, kTimeIndependent, kGoal };

/// "recording", "otf2", "csv", "jsonl", "ti", "goal".
[[nodiscard]] std::optional<Format> format_named(const std::string& name);
[[nodiscard]] const char* name_of(Format format);

/// By what is there.
[[nodiscard]] std::optional<Format> guess_input(const std::filesystem::path& path);
/// By the ending of the name: .n1r, .otf2, .csv, .jsonl, .ti, .goal.
[[nodiscard]] std::optional<Format> guess_output(const std::filesystem::path& path);

/// What a second of computing is worth in time-independent traces.
struct ExchangeOptions {
  double flops_per_second;
};

[[nodiscard]] Result<std::unique_ptr<events::exchange::Importer>> open_input(
    const std::filesystem::path& path, Format format, const ExchangeOptions& options);
[[nodiscard]] Result<std::unique_ptr<events::exchange::Exporter>> create_output(
    const std::filesystem::path& path, Format format, const events::exchange::Preamble& preamble,
    const ExchangeOptions& options);

}  // namespace nplus1::cli
