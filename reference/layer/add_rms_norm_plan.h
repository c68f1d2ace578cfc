// The stages of add_rms_norm.
#pragma once

#include "reference/layer/add_rms_norm.h"
#include "reference/plan/plan.h"

namespace sextant {

Plan PlanOf(const AddRmsNorm& op, std::map<char, size_t> extents);

}  // namespace sextant
