// The stages of rms_norm.
#pragma once

#include "reference/layer/rms_norm.h"
#include "reference/plan/plan.h"

namespace sextant {

Plan PlanOf(const RmsNorm& op, std::map<char, size_t> extents);

// Adds the stages from x [N,M] to the norm of its rows.
Stage AddRmsNormStages(Plan& p, Stage x, Stage weight, double eps, bool unit_offset);

}  // namespace sextant
