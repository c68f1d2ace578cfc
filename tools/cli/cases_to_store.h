// The cases that a command writes to a file, and its options.
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

// The cases, none twice: two records with one canonical line would be one key with two meanings.
std::vector<Selected> CasesToStore(const StoreOptions& options);

}  // namespace sextant::tools
