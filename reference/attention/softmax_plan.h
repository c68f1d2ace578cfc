// The stages of softmax.
#pragma once

#include "reference/attention/softmax.h"
#include "reference/plan/plan.h"

namespace sextant {

Plan PlanOf(const Softmax& op, std::map<char, size_t> extents);

}  // namespace sextant
