// Defects as subjects: what must be caught.
#pragma once

#include <string>

#include "oracle/subject/subject.h"

namespace sextant::oracle {

// A planted defect: "rope/position_off_by_one". Wherever that bug does not show, and in every other
// operation, it follows the recipe `native`. Throws Error naming the defects that exist.
Subject DefectSubject(const std::string& operation_and_defect);

}  // namespace sextant::oracle
