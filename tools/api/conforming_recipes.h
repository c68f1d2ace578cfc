// The recipes by which a failing answer would conform. Apart from inferred_recipe.h, because
// libsextant.so, which needs no subjects and no HDF5, uses it.
#pragma once

#include <string>
#include <vector>

#include "oracle/diagnosis/recipe_search.h"

namespace sextant::tools {

// Other recipes by which the failing answer conforms: the narrowest, then methods of the same step
// that cannot be told apart from it.
std::vector<std::string> ConformingRecipes(const oracle::JudgedAnswer& answer,
                                           const oracle::RecipeSearch& search);

}  // namespace sextant::tools
