// The recipes by which answers conform to a claim.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/identify/claim.h"
#include "oracle/identify/misfit.h"

namespace sextant::oracle {

// The first of the recipes by which all answers conform, and the number of elements that could have
// failed.
struct Conformity {
  std::string recipe;  // empty: none
  size_t judged = 0;
};
Conformity ConformityOf(const Claim& claim, const std::vector<Exchange>& exchanges,
                        const std::vector<std::string>& recipes, int threads);

// The narrowest recipe near `start` by which all answers conform
// (oracle/diagnosis/recipe/recipe_search.h). Throws Error if the claim is not valid.
std::optional<std::string> InferredRecipe(const Claim& claim,
                                          const std::vector<Exchange>& exchanges,
                                          const std::string& start, int threads);

}  // namespace sextant::oracle
