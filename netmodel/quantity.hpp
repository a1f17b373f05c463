// Numbers with units in network specifications: "1us", "10GBps", "64KiB", or plain SI numbers.
#pragma once

#include <string>
#include <string_view>

#include "support/result.hpp"

namespace nplus1::netmodel {

enum class Quantity {
  kTime,       // seconds; suffixes s ms us ns ps
  kSize,       // bytes; suffixes B kB MB GB TB KiB MiB GiB TiB
  kBandwidth,  // bytes per second; the suffixes of kSize with "ps" or "/s", and bps kbps Mbps Gbps Tbps
               // (bits)
};

/// The value in seconds, bytes or bytes per second: finite and not negative. Errors say what is accepted.
[[nodiscard]] Result<double> parse_quantity(std::string_view text, Quantity quantity);

/// The shortest decimal that reads back as exactly `value`.
[[nodiscard]] std::string format_number(double value);

}  // namespace nplus1::netmodel
