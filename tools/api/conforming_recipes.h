// The recipes by which a failing answer would conform. Apart from inferred_recipe.h, because
// libsextant.so, which needs no subjects and no HDF5, uses it.
#pragma once

#include "oracle/diagnosis/recipe/recipe_search.h"

namespace sextant::tools {

// A recipe that permits more than so many times as much permits most bugs, too. It is no
// explanation if it has not the errors of the answer, or if a known bug predicts them.
inline constexpr double kMostRecipeWidth = 8;

// Sets in the verdict the other recipes by which the failing answer conforms: the narrowest, then
// methods of the same step that cannot be told apart from it.
void FindConformingRecipes(const oracle::JudgedAnswer& answer, const oracle::RecipeSearch& search,
                           oracle::Verdict& verdict);

}  // namespace sextant::tools
