// The cheapest recipe whose error stays below a bound, in 99 % of the elements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/profile/step_costs.h"

namespace sextant::oracle {

struct CheapestRecipe {
  std::string recipe;           // a line
  double p99 = 0, largest = 0;  // measured errors in ulps
};

// Begins with all steps in f32 (f64 if a case is in f64), and moves one step after the other to the
// next narrower format, each time the one whose error is smallest, as long as the error that 99 %
// of the elements do not exceed is at most `ulps`. Greedy: a cheaper recipe may exist. Empty if
// even the first one exceeds the bound.
std::optional<CheapestRecipe> CheapestBelow(double ulps, const std::vector<ProvenCase>& cases,
                                            int threads);

}  // namespace sextant::oracle
