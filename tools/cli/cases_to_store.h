// The cases and options of commands that write a file of cases: golden and inputs.
#pragma once

#include <string>
#include <vector>

#include "tools/api/config_for.h"
#include "tools/api/selection.h"

namespace CLI {
class App;
}

namespace sextant::tools {

struct StoreOptions {
  std::vector<std::string> cases;
  std::string output;
  ConfigChoice config;
};
void AddStoreOptions(CLI::App& app, StoreOptions& options);

// The selected cases. Throws Error if a case occurs twice (the canonical line of a case is the key
// of its record), or if the output is one of the files of cases.
std::vector<Selected> CasesToStore(const StoreOptions& options);

}  // namespace sextant::tools
