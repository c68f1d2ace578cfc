// By how much the answers of two recipes differ, and at which step: a trainer and a server, two
// kernels.
#pragma once

#include <string>
#include <vector>

#include "oracle/profile/element_errors.h"
#include "reference/case/case.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

// The answers of the first recipe, and of it with one rule of the second.
struct DifferenceAtStep {
  std::string step, rule, other_rule;
  Distribution measured{};
};

// Differences in ulps of an output, at its exact value.
struct DifferenceOfOutput {
  std::string output;
  size_t elements = 0;
  Distribution measured{};   // of an implementation of each recipe
  Distribution permitted{};  // the permitted errors of both together: no two answers differ by more
  std::vector<DifferenceAtStep> steps{};  // whose rules differ, largest first (99 %)
};

// One for each output. Throws Error if a recipe is wrong, or if the operation chooses codes or
// indices.
std::vector<DifferenceOfOutput> DifferencesOfRecipes(const Case& c, const Tensors& inputs,
                                                     const std::string& recipe,
                                                     const std::string& other,
                                                     const ProveOptions& options);

}  // namespace sextant::oracle
