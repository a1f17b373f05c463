// `nplus1 calibrate`: measures the machine's own network, and writes it down for the simulator.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <utility>

#include <unistd.h>

#include "analyses/installation.hpp"
#include "calibrate/fit.hpp"
#include "calibrate/host.hpp"
#include "calibrate/host_measure.hpp"
#include "calibrate/quality.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/to_stderr.hpp"
#include "cli/verbs.hpp"
#include "report/files.hpp"
#include "report/json_object.hpp"
#include "support/processes/programs.hpp"
#include "support/processes/words.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace {

using calibrate::Errors;
using calibrate::Quality;
using calibrate::Sample;

constexpr const char* kNothingMeasured = "nothing was calibrated";
constexpr const char* kCalibrateExamples =
    "  nplus1 calibrate -n 2 -o here.xml                     two processes of this machine\n"
    "  nplus1 calibrate -n 2 --mpi-args \"-hosts a,b\" -o ab.xml   the network between two machines\n"
    "  nplus1 run -n 2 --platform here.xml -- ./app          then: programs on what was measured\n"
    "  nplus1 calibrate --host -o here.json                  this host's processor and memory\n"
    "  nplus1 run -n 2 --host-speed here.json:there.json -- ./app   then: as on a host measured elsewhere\n";
constexpr std::chrono::seconds kPatience{600};

struct CalibrateOptions {
  bool host = false;
  int ranks = 2;
  int repetitions = 30;
  int largest =
      32 << 20;  // more than the caches hold: from there on messages take up to twice as long a byte
  std::string platform;
  std::string raw;
  std::string json;
  std::string mpi_args;
};

std::string measure(const CalibrateOptions& options) {
  std::vector<std::string> line{
      or_fail(analyses::find_mpirun(), ExitCode::kUnavailable, kNothingMeasured).string(), "-np",
      std::to_string(options.ranks)};
  for (std::string& word :
       or_fail(processes::split_words(options.mpi_args), ExitCode::kUsage, kNothingMeasured))
    line.push_back(std::move(word));
  line.push_back(or_fail(analyses::find_measure(), ExitCode::kUnavailable, kNothingMeasured).string());
  line.push_back(std::to_string(options.repetitions));
  line.push_back(std::to_string(options.largest));
  to_stderr("nplus1: {}\n", join_quoted(line));
  const processes::Output output = processes::capture(line, kPatience);
  if (output.timed_out)
    throw Failure{ExitCode::kUnavailable, "measuring took more than 10 minutes", kNothingMeasured,
                  "ask for fewer --repetitions, or a smaller --largest"};
  if (output.exit_code != 0)
    throw Failure{ExitCode::kUnavailable, fmt::format("mpirun failed with exit code {}", output.exit_code),
                  kNothingMeasured, "run the command above by hand to see why"};
  return output.text;
}

struct Qualities {
  Quality platform;
  Quality lsb;
  Quality loggops;
};

Qualities qualities_of(const calibrate::Measurements& m, const calibrate::Fit& fit) {
  using Samples = std::vector<Sample>;
  const auto pieces = [&fit](const Samples& times) -> calibrate::Predict {
    return [p = calibrate::fit_times(times, fit.eager_limit)](double s) { return calibrate::time_at(p, s); };
  };
  const auto line = [](const Samples& times) -> calibrate::Predict {
    return [l = calibrate::fit_line(times, 0, times.size())](double s) { return l.at(s); };
  };
  const auto loggops = [&](const Samples& times) -> calibrate::Predict {
    const calibrate::Line whole = calibrate::fit_line(times, 0, times.size());
    return [f = calibrate::fit_loggops(m, whole, fit.eager_limit)](double s) {
      return calibrate::time_at(f, s);
    };
  };
  const Samples& times = m.half_round_trip;
  return {calibrate::quality(times, pieces), calibrate::quality(times, line),
          calibrate::quality(times, loggops)};
}

std::string errors_text(const Errors& errors) {
  return fmt::format("{:5.1f} {:5.1f} {:5.1f} %", 100 * errors.median, 100 * errors.nine_of_ten,
                     100 * errors.worst);
}

std::string quality_text(const char* name, const Quality& quality) {
  return fmt::format("  {:<22} {}   {}   {}\n", name, errors_text(quality.fitted),
                     errors_text(quality.stated), errors_text(quality.held_back));
}

/// Whether the platform can be believed, and what it was compared with.
std::string verdict(const Quality& platform) {
  const std::string found = fmt::format(
      "Sizes held back: {:.1f} % off in the median (stated {:.1f} %; by chance up to {:.1f} %), {:.0f} % of "
      "them within the stated {:.1f} % (at least {:.0f} %)",
      100 * platform.held_back.median, 100 * platform.stated.median, 100 * platform.median_limit,
      100 * platform.covered, 100 * platform.stated.nine_of_ten, 100 * calibrate::kLeastCovered);
  if (platform.holds()) return found + ": as stated.\n";
  if (!platform.as_stated())
    return found +
           ": NOT as stated. Calibrate again, on a machine that does nothing else; if that does not help, "
           "these times follow no such model.\n";
  return found +
         fmt::format(
             ": as stated, and too far off to predict with (at most {:.0f} %). Calibrate again with more "
             "--repetitions, on a machine that does nothing else.\n",
             100 * calibrate::kUseful);
}

std::string pieces_text(const calibrate::Fit& fit) {
  std::string text;
  for (const calibrate::Piece& piece : fit.pieces) {
    text += fmt::format("  from {:>8.0f} B   {:8.3g} us", piece.from, 1e6 * piece.line.a);
    text += piece.line.b > 0 ? fmt::format(" + s / {:.4g} GB/s\n", 1e-9 / piece.line.b)
                             : ", whatever their size\n";
  }
  return text;
}

/// How well one rate tells what `samples` from `least` bytes on took. Nothing where it was not measured: no size so large.
std::string rate_text(const char* name, std::vector<Sample> samples, double least) {
  std::erase_if(samples, [least](const Sample& sample) { return sample.size < least; });
  if (calibrate::fit_rate(calibrate::fitted_sizes(samples), least) <= 0) return {};
  const Quality quality =
      calibrate::quality(samples, [least](const std::vector<Sample>& some) -> calibrate::Predict {
        return [rate = calibrate::fit_rate(some, least)](double s) { return s / rate; };
      });
  return quality_text(name, quality);
}

/// What a rank does with the data of a collective besides sending it.
std::string collectives_text(const calibrate::Measurements& m, const calibrate::Fit& fit) {
  const std::string words = calibrate::collective_words(fit);
  if (words.empty()) return {};
  return rate_text("MPI_SUM from 1 KiB on", m.reduce, calibrate::kLeastReduced) +
         rate_text("copies from 1 MiB on", m.copy, calibrate::kLeastCopied) +
         fmt::format("--collectives {}\n", words);
}

std::string text(const calibrate::Measurements& m, const calibrate::Fit& fit, const Qualities& qualities) {
  std::string text = "Messages of s bytes, one way, under plain MPI:\n" + pieces_text(fit);
  text += fmt::format("Sends complete before their receive up to {:.0f} B.\n", fit.eager_limit);
  text += "Relative errors             at sizes fitted to      fitted, each left out   at sizes held back\n";
  text += "                          median 9of10 worst      median 9of10 worst      median 9of10 worst\n";
  text += quality_text("platform (piecewise)", qualities.platform);
  text += quality_text("lsb", qualities.lsb);
  text += quality_text("loggops", qualities.loggops);
  text += verdict(qualities.platform);
  text +=
      fmt::format("--network {}\n--network {}\n", calibrate::lsb_words(fit), calibrate::loggops_words(fit));
  return text + collectives_text(m, fit);
}

void add(report::JsonObject& json, const char* name, const Quality& quality) {
  report::JsonObject object;
  const auto errors = [&object](const std::string& of, const Errors& e) {
    object.real((of + "_median").c_str(), e.median);
    object.real((of + "_nine_of_ten").c_str(), e.nine_of_ten);
    object.real((of + "_worst").c_str(), e.worst);
  };
  errors("fitted", quality.fitted);
  errors("stated", quality.stated);
  errors("held_back", quality.held_back);
  object.real("median_limit", quality.median_limit);
  object.real("covered", quality.covered);
  object.truth("as_stated", quality.as_stated());
  json.raw(name, object.inner());
}

/// Times in seconds, sizes in bytes, errors relative; docs/cli.md.
std::string json_of(const calibrate::Measurements& m, const calibrate::Fit& fit, const Qualities& qualities) {
  report::JsonObject json;
  json.text("lsb", calibrate::lsb_words(fit));
  json.text("loggops", calibrate::loggops_words(fit));
  json.real("eager_limit", fit.eager_limit);
  add(json, "error_platform", qualities.platform);
  add(json, "error_lsb", qualities.lsb);
  add(json, "error_loggops", qualities.loggops);
  json.truth("holds", qualities.platform.holds());
  json.list("held_back", calibrate::held_back_sizes(m.half_round_trip), [&fit](const Sample& sample) {
    return fmt::format("[{}, {:.6g}, {:.6g}]", sample.size, sample.median,
                       calibrate::time_at(fit.pieces, sample.size));
  });
  return json.document();
}

std::string provenance(const CalibrateOptions& options, const calibrate::Fit& fit, const Quality& quality) {
  char host[256] = "unknown";
  gethostname(host, sizeof(host) - 1);
  char date[32] = "";
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof(date), "%Y-%m-%d", std::localtime(&now));
  return fmt::format(
      "Measured on {} on {} by nplus1 calibrate, medians of {} repetitions, 1 to {} bytes. "
      "Stated error at other sizes, by leaving out one at a time: {:.1f} % in the median, {:.1f} % for 9 of "
      "10; sizes held back from the fit: {:.1f} % in the median, {:.0f} % of them within the {:.1f} %. "
      "Hosts' speeds are not measured. "
      "MPI_SUM of doubles, and copies of own blocks: {} (for the option collectives).",
      host, date, options.repetitions, options.largest, 100 * quality.stated.median,
      100 * quality.stated.nine_of_ten, 100 * quality.held_back.median, 100 * quality.covered,
      100 * quality.stated.nine_of_ten, calibrate::collective_words(fit));
}

std::string host_text(const calibrate::Host& host) {
  std::string text = fmt::format("{}: {}\n", host.name, host.processor);
  text += fmt::format("  floating point      {:8.2f} Gf one at a time, {:.2f} Gf in vectors of {} bits\n",
                      1e-9 * host.scalar_flops, 1e-9 * host.vector_flops, host.vector_bits);
  for (const calibrate::MemoryLevel& level : host.levels)
    text +=
        fmt::format("  {:<8}{:>10}  {:8.1f} GB/s read, {:7.2f} ns for a load ({} KiB touched)\n", level.name,
                    level.bytes == 0 ? std::string{} : fmt::format("{} KiB", level.bytes >> 10U),
                    1e-9 * level.bandwidth, 1e9 * level.latency_s, level.touched >> 10U);
  return text;
}

/// What computing costs on this host: a file for --host-speed.
int run_host(const CalibrateOptions& options) {
  if (!options.raw.empty() || !options.mpi_args.empty())
    throw Failure{ExitCode::kUsage, "--host measures no network: --raw and --mpi-args are about that",
                  kNothingMeasured, "leave them out, or --host"};
  const auto host = or_fail(calibrate::measure_host(), ExitCode::kUnavailable, kNothingMeasured);
  for (const std::string* file : {&options.platform, &options.json})
    if (!file->empty())
      or_fail(report::write_file(*file, calibrate::host_json(host)), ExitCode::kCantCreate, kNothingMeasured);
  fmt::print("{}", host_text(host));
  if (!options.platform.empty()) fmt::print("--host-speed {}\n", quote(options.platform));
  return static_cast<int>(ExitCode::kOk);
}

int run_calibration(const CalibrateOptions& options) {
  if (options.host) return run_host(options);
  const std::string csv = measure(options);
  const auto measurements =
      or_fail(calibrate::read_measurements(csv), ExitCode::kUnavailable, kNothingMeasured);
  const calibrate::Fit fit = calibrate::fit(measurements);
  const Qualities qualities = qualities_of(measurements, fit);
  if (!options.raw.empty())
    or_fail(report::write_file(options.raw, csv), ExitCode::kCantCreate, kNothingMeasured);
  if (!options.platform.empty())
    or_fail(report::write_file(options.platform,
                               calibrate::platform_xml(fit, provenance(options, fit, qualities.platform))),
            ExitCode::kCantCreate, kNothingMeasured);
  if (!options.json.empty())
    or_fail(report::write_file(options.json, json_of(measurements, fit, qualities)), ExitCode::kCantCreate,
            kNothingMeasured);
  fmt::print("{}", text(measurements, fit, qualities));
  if (!options.platform.empty()) fmt::print("--platform {}\n", quote(options.platform));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_calibrate(const Registration& registration) {
  CLI::App* verb = registration.app.add_subcommand(
      "calibrate", "Measure this machine's own network, and write it down as a platform; or its processor");
  set_manual(*verb, {"nplus1 calibrate -n 2 [-o FILE] [options] | --host [-o FILE]", kCalibrateExamples});
  const auto options = std::make_shared<CalibrateOptions>();
  verb->add_flag(
      "--host", options->host,
      "Measure what computing costs on this host (floating point, caches, memory; 4 s), and write it to -o "
      "FILE, for --host-speed; best on a machine that does nothing else");
  verb->add_option("-n,--ranks", options->ranks, "Ranks; the first and the last exchange messages [2]")
      ->check(CLI::Range(2, 1 << 20))
      ->type_name("N");
  verb->add_option("--repetitions", options->repetitions, "Measurements of each size [30]")
      ->check(CLI::Range(3, 100000))
      ->type_name("N");
  verb->add_option("--largest", options->largest, "Largest message in bytes [33554432]")
      ->check(CLI::Range(64, 1 << 29))
      ->type_name("BYTES");
  verb->add_option("-o,--output", options->platform, "Write a platform for --platform (replaces it)")
      ->type_name("FILE");
  verb->add_option("--raw", options->raw, "Write every measurement as CSV (replaces it)")->type_name("FILE");
  verb->add_option("--json", options->json, "Write the models and their errors to this file (replaces it)")
      ->type_name("FILE");
  verb->add_option("--mpi-args", options->mpi_args, "Options for mpirun, e.g. \"-hosts a,b\"")
      ->type_name("WORDS");
  verb->callback(
      [registration, options] { registration.chosen = [options] { return run_calibration(*options); }; });
}

}  // namespace nplus1::cli
