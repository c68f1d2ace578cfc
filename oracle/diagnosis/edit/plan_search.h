// The edits of a plan that explain an answer: one, or two together.
#pragma once

#include <vector>

#include "oracle/defect/planned_operation.h"
#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

enum class Edits { kOne, kTwo };
// The simplest edit, or the simplest pair of edits, with which the plan predicts the answer; empty
// if there is none, or if it may be an accident.
std::vector<Explanation> MeasureEdits(const Observation& seen, const PlanMaker& maker, Edits edits);

}  // namespace sextant::oracle
