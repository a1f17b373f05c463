// The report's page with @TITLE@ and @DATA@ to be filled in; put together by bundle.py when nplus1 is built.
#pragma once

#include <string_view>

namespace nplus1::report::html {

extern const std::string_view kPageTemplate;

}  // namespace nplus1::report::html
