// The cases that come with the program, by their names.
#pragma once

#include <string>
#include <vector>

namespace sextant::tools {

// The file `NAME.cases` of the cases that come with the program, in fixtures/cases of the current
// folder or of one above the program: "attention", "real/attention". Whatever is not such a name is
// returned as it is.
std::string CasesNamed(const std::string& name);

// The names that stand for the cases of an operation: "attention", "real/attention".
std::vector<std::string> NamesOfCases();

}  // namespace sextant::tools
