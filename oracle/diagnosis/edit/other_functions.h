// Functions of one number that implementations apply by mistake, or instead of a slow one: powers,
// roundings, approximations of roots and exponentials.
#pragma once

#include <span>
#include <vector>

#include "reference/plan/plan.h"

namespace sextant::oracle {

struct OtherFunction {
  const char *name, *text;  // @ is the stage
  double (*of)(double x);
};

// After any stage.
std::span<const OtherFunction> FunctionsAfterwards();
// Instead of the root, or the exponential, of a stage.
std::vector<OtherFunction> FunctionsInsteadOf(Function right);

}  // namespace sextant::oracle
