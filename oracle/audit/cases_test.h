// For tests: the cases of some lines.
#pragma once

#include <initializer_list>
#include <vector>

#include "reference/case/case.h"

namespace sextant::oracle {

inline std::vector<Case> Cases(std::initializer_list<const char*> lines) {
  std::vector<Case> cases;
  for (const char* line : lines) cases.push_back(Case::Parse(line));
  return cases;
}

}  // namespace sextant::oracle
