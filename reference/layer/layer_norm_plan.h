// The stages of layer_norm.
#pragma once

#include "reference/layer/layer_norm.h"
#include "reference/plan/plan.h"

namespace sextant {

Plan PlanOf(const LayerNorm& op, std::map<char, size_t> extents);

}  // namespace sextant
