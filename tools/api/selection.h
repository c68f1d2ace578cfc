// The cases that a command line names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reference/case/case.h"
#include "reference/case/draw.h"
#include "reference/prove/golden.h"
#include "tools/api/config_for.h"

namespace sextant::tools {

// One selected question; `record` if it came out of a golden file.
struct Selected {
  Case c;
  std::string why;  // the comment of its line
  std::optional<Record> record;
};

struct Selection {
  const std::vector<std::string>& arguments;
  std::string filter{};
  ConfigChoice config{};  // completes every case line, not those of golden files
};

// Every argument is a .cases file, a golden file (HDF5), or a case line ("rope pairing=half ...").
// `filter` keeps the cases whose canonical line contains it, or matches it if it has a * or ?.
// Throws Error naming file and line.
std::vector<Selected> Select(const Selection& selection);

// Reads "FILE.npy#SHA256" inputs.
FileReader NpyReader();

}  // namespace sextant::tools
