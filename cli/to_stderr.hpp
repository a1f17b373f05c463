// What the command line says on stderr. Where it goes may be closed or full: that is no reason to do anything otherwise.
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <utility>

namespace nplus1::cli {

template <class... Values>
void to_stderr(fmt::format_string<Values...> format, Values&&... values) {
  const std::string text = fmt::format(format, std::forward<Values>(values)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace nplus1::cli
