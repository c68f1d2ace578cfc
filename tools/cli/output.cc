#include "tools/cli/output.h"

#include <cerrno>
#include <iostream>

#include "tools/api/line_stream.h"

namespace sextant::tools {

void FlushOutput() {
  if (std::cout.flush()) return;
  // An earlier write failed and its reason is lost. Another write fails for the same reason.
  std::cout.clear();
  errno = 0;
  std::cout << std::endl;
  ThrowUnwritable("-");
}

}  // namespace sextant::tools
