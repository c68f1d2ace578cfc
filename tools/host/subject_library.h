// Loads a shared library that defines a subject (tools/c/sextant_subject.h).
#pragma once

#include <string>
#include <vector>

#include "tools/c/sextant_subject.h"

namespace sextant::tools {

struct LoadedSubject {
  std::string name, version, recipe;
  std::vector<std::string> operations, bitwise;
  int (*answer)(const SextantQuestion*);
};

// The library stays loaded until the process ends. Throws Error if the file cannot be loaded or
// does not define a subject.
LoadedSubject LoadSubject(const std::string& path);

}  // namespace sextant::tools
