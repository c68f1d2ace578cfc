#include "tools/cli/cases_to_store.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "reference/base/error.h"
#include "tools/cli/options.h"

namespace sextant::tools {

void AddStoreOptions(CLI::App& app, StoreOptions& options) {
  AddOption(app, "cases", options.cases, "files of cases, or case lines", {.required = true});
  AddStore(app, options.output, "the file to write", {.required = true});
  AddConfig(app, options.config);
}

std::vector<Selected> CasesToStore(const StoreOptions& options) {
  for (const std::string& argument : options.cases) {
    std::error_code none;  // a case line is no file
    if (std::filesystem::equivalent(argument, options.output, none))
      throw Error(options.output, " would replace its own input: expected another name");
  }
  std::vector<Selected> selected = Select({.arguments = options.cases, .config = options.config});
  std::set<std::string> seen;
  for (const Selected& s : selected) {
    const std::string line = s.c.ToString();
    if (!seen.insert(line).second) throw Error("the same case is given twice: ", line);
  }
  return selected;
}

}  // namespace sextant::tools
