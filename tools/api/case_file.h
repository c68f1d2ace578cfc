// Reads the cases of case lines and of .cases files, in which lists may have names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reference/case/case.h"
#include "tools/api/completed_line.h"

namespace sextant::tools {

struct CaseInFile {
  Case c;
  CaseLine line;  // as written
};

// The case of a line that a configuration completes; the lists that it names are in `folders`
// (fixtures/config/named_list.h). Throws Error.
Case ParseLine(const std::string& line, const ConfigChoice& config,
               const std::vector<std::filesystem::path>& folders);

// Throws Error that names file and line.
std::vector<CaseInFile> ReadCases(const std::string& path, const ConfigChoice& config);

}  // namespace sextant::tools
