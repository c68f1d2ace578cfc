// sextant-host LIBRARY: started by Sextant for lib: subjects. It links little, so that its
// libraries do not meet those of the subject.
#include <exception>
#include <iostream>

#include "reference/base/printable.h"
#include "tools/api/exit_status.h"
#include "tools/host/host.h"

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: sextant-host LIBRARY, with the questions of Sextant on standard input\n";
    return sextant::tools::kUsage;
  }
  return sextant::tools::RunHost(argv[1]);
} catch (const std::exception& e) {
  std::cerr << "sextant-host: " << sextant::Printable(e.what()) << "\n";
  return sextant::tools::kUsage;
}
