#include "tools/cli/output.h"

#include <cerrno>
#include <cstring>
#include <iostream>

#include "reference/base/error.h"

namespace sextant::tools {

void FlushOutput() {
  if (std::cout.flush()) return;
  // An earlier write failed and its reason is lost. Another write fails for the same reason.
  std::cout.clear();
  errno = 0;
  std::cout << std::endl;
  throw Error("standard output cannot be written",
              errno != 0 ? std::string(": ") + std::strerror(errno) : "");
}

}  // namespace sextant::tools
