#include "tools/api/conforming_recipes.h"

namespace sextant::tools {

std::vector<std::string> ConformingRecipes(const oracle::JudgedAnswer& answer,
                                           const oracle::RecipeSearch& search) {
  const auto found = oracle::NarrowestRecipe({&answer, 1}, search);
  if (!found || !found->failing.empty()) return {};
  std::vector<std::string> recipes = {found->recipe};
  recipes.insert(recipes.end(), found->others.begin(), found->others.end());
  return recipes;
}

}  // namespace sextant::tools
