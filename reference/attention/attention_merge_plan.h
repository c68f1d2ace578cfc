// The stages of attention_merge.
#pragma once

#include "reference/attention/attention_merge.h"
#include "reference/plan/plan.h"

namespace sextant {

Plan PlanOf(const AttentionMerge& op, std::map<char, size_t> extents);

}  // namespace sextant
