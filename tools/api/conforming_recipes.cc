#include "tools/api/conforming_recipes.h"

namespace sextant::tools {

void FindConformingRecipes(const oracle::JudgedAnswer& answer, const oracle::RecipeSearch& search,
                           oracle::Verdict& verdict) {
  const auto found = oracle::NarrowestRecipe({&answer, 1}, search);
  if (!found || !found->failing.empty()) return;
  if (found->has_other_errors && found->Width() > kMostRecipeWidth) return;
  oracle::OtherRecipes& recipes = verdict.other_recipes;
  recipes.texts = {found->recipe};
  recipes.texts.insert(recipes.texts.end(), found->others.begin(), found->others.end());
  recipes.width = found->Width();
  recipes.have_other_errors = found->has_other_errors;
  recipes.sample = found->sample;
}

}  // namespace sextant::tools
