// Conforming cases against a known defect: a subject that had it would fail them.
#pragma once

#include <string>
#include <vector>

#include "reference/case/case.h"

namespace sextant::oracle {

// How many of these cases, to which the subject conforms by the recipe, would fail if it had the
// defect. Cases of many elements, and most of many cases, are not asked.
size_t CountRefuting(const std::string& operation, const std::string& defect,
                     const std::vector<Case>& conforming, const std::string& recipe);

}  // namespace sextant::oracle
