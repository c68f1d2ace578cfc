// Defects as subjects: wrong implementations that the cases must catch.
#pragma once

#include <string>

#include "oracle/subject/subject.h"

namespace sextant::oracle {

// A subject with one defect or coverage goal: "rope/position_off_by_one". In all other operations,
// and where the bug does not apply, it is correct and follows the recipe `native`. Throws Error
// with the names of the existing defects if there is no such defect.
Subject DefectSubject(const std::string& operation_and_defect);

}  // namespace sextant::oracle
