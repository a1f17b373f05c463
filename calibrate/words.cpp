// A fit as the words and the platform that `nplus1 run` and `nplus1 replay` take.
#include <fmt/format.h>

#include <algorithm>

#include "calibrate/fit.hpp"

namespace nplus1::calibrate {
namespace {

constexpr double kEnvelope = 16;         // bytes that the simulation of SMPI adds to each message
constexpr double kInstant = 1e-15;       // seconds per byte where the fit found none
constexpr double kLeastLatency = 1e-12;  // SimGrid divides by it

double latency_of(const Piece& piece) {
  return std::max(kLeastLatency, piece.line.a - kEnvelope * std::max(kInstant, piece.line.b));
}

double bandwidth_of(const Line& line) {
  return 1 / std::max(kInstant, line.b);
}

template <class Factor>
std::string factors(const std::vector<Piece>& pieces, Factor factor) {
  std::string text;
  for (const Piece& piece : pieces) {
    // A factor holds for sizes above its place.
    const double place = piece.from == 0 ? 0 : piece.from + kEnvelope - 1;
    text += fmt::format("{}{:.0f}:{:.9g}", text.empty() ? "" : ";", place, factor(piece));
  }
  return text;
}

}  // namespace

std::string platform_xml(const Fit& fit, const std::string& provenance) {
  const double latency = latency_of(fit.pieces.front());
  const double bandwidth = bandwidth_of(fit.pieces.back().line);
  const auto latencies = [&](const Piece& piece) { return latency_of(piece) / latency; };
  const auto bandwidths = [&](const Piece& piece) { return bandwidth_of(piece.line) / bandwidth; };
  return fmt::format(
      "<?xml version='1.0'?>\n"
      "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<!-- {} -->\n"
      "<platform version=\"4.1\">\n"
      "  <config>\n"
      "    <prop id=\"smpi/lat-factor\" value=\"{}\"/>\n"
      "    <prop id=\"smpi/bw-factor\" value=\"{}\"/>\n"
      "    <prop id=\"smpi/async-small-thresh\" value=\"{:.0f}\"/>\n"
      "    <prop id=\"smpi/send-is-detached-thresh\" value=\"{:.0f}\"/>\n"
      "  </config>\n"
      "  <zone id=\"world\" routing=\"Full\">\n"
      "    <host id=\"host-0\" speed=\"1Gf\"/>\n"
      "    <host id=\"host-1\" speed=\"1Gf\"/>\n"
      "    <link id=\"wire\" bandwidth=\"{:.9g}Bps\" latency=\"{:.9g}s\" sharing_policy=\"SPLITDUPLEX\"/>\n"
      "    <route src=\"host-0\" dst=\"host-1\"><link_ctn id=\"wire\" direction=\"UP\"/></route>\n"
      "  </zone>\n"
      "</platform>\n",
      provenance, factors(fit.pieces, latencies), factors(fit.pieces, bandwidths), fit.eager_limit + 1,
      fit.eager_limit + 1, bandwidth, latency);
}

std::string lsb_words(const Fit& fit) {
  return fmt::format("lsb:latency={:.4g},bandwidth={:.4g},eager={:.0f}", fit.whole.a, bandwidth_of(fit.whole),
                     fit.eager_limit);
}

std::string loggops_words(const Fit& fit) {
  const LogGopsFit& f = fit.loggops;
  return fmt::format("loggops:L={:.4g},o={:.4g},g={:.4g},G={:.4g},O={:.4g},S={:.0f}", f.latency, f.overhead,
                     f.gap, f.gap_per_byte, f.overhead_per_byte, f.eager_limit);
}

std::string collective_words(const Fit& fit) {
  std::string words;
  if (fit.reduce_rate > 0) words = fmt::format("reduce_rate={:.4g}", fit.reduce_rate);
  if (fit.copy_rate > 0) words += fmt::format("{}copy_rate={:.4g}", words.empty() ? "" : ",", fit.copy_rate);
  return words;
}

}  // namespace nplus1::calibrate
