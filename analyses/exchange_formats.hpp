// The formats that `nplus1 convert` knows, behind one interface, and which one a name stands for.
//
// To add one: its importer or exporter (events/exchange/exchange.hpp) and a line in the list of exchange_formats.cpp; or, from
// a program that links this library, add_format() before main() goes on.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "events/exchange/exchange.hpp"

namespace nplus1::analyses {

/// What a second of computing is worth in time-independent traces.
struct ExchangeOptions {
  double flops_per_second;
};

using OpenImporter = std::function<Result<std::unique_ptr<events::exchange::Importer>>(
    const std::filesystem::path&, const ExchangeOptions&)>;
using CreateExporter = std::function<Result<std::unique_ptr<events::exchange::Exporter>>(
    const std::filesystem::path&, const events::exchange::Preamble&, const ExchangeOptions&)>;

struct Format {
  std::string name;                                                  // "otf2", of --from and --to
  std::string ending;                                                // ".otf2"
  OpenImporter open;                                                 // empty: it is only written
  CreateExporter create;                                             // empty: it is only read
  std::function<bool(const std::filesystem::path&)> is_folder_of{};  // whether the folder holds such files
  bool paths_first = false;  // call paths come before the events that name them
  bool is_recording = false;
};

/// All of them; the pointers below are into it.
[[nodiscard]] const std::vector<Format>& formats();
/// True, so that it can stand in an initialiser. Before main(), or from its thread before the others are used.
bool add_format(Format format);

/// By name, by what is there, by the ending of a name; null for none.
[[nodiscard]] const Format* format_named(const std::string& name);
[[nodiscard]] const Format* guess_input(const std::filesystem::path& path);
[[nodiscard]] const Format* guess_output(const std::filesystem::path& path);

[[nodiscard]] Result<std::unique_ptr<events::exchange::Importer>> open_input(
    const std::filesystem::path& path, const Format& format, const ExchangeOptions& options);
[[nodiscard]] Result<std::unique_ptr<events::exchange::Exporter>> create_output(
    const std::filesystem::path& path, const Format& format, const events::exchange::Preamble& preamble,
    const ExchangeOptions& options);

}  // namespace nplus1::analyses
