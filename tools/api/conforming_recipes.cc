#include "tools/api/conforming_recipes.h"

namespace sextant::tools {

void FindConformingRecipes(const oracle::JudgedAnswer& answer, const oracle::RecipeSearch& search,
                           oracle::Verdict& verdict) {
  const auto found = oracle::NarrowestRecipe({&answer, 1}, search);
  if (!found || !found->failing.empty()) return;
  verdict.conforming_recipes = {found->recipe};
  verdict.conforming_recipes.insert(verdict.conforming_recipes.end(), found->others.begin(),
                                    found->others.end());
  verdict.recipe_width = found->ulps / found->ulps_before;
  verdict.recipe_has_other_errors = found->has_other_errors;
  verdict.recipe_sample = found->sample;
}

}  // namespace sextant::tools
