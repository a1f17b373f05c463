#include "guidelines/mpi/own_mock_up.hpp"

#include <dlfcn.h>

namespace nplus1::guidelines {

AnyRun find_own_mock_up(const std::string& name) {
  const auto own = reinterpret_cast<OwnMockUp>(dlsym(RTLD_DEFAULT, name.c_str()));
  if (own == nullptr) return {};
  return [own](const Call& c, Scratch&) {
    return own(c.send, c.receive, c.count, c.type, c.op, c.root, c.comm);
  };
}

}  // namespace nplus1::guidelines
