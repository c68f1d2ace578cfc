// Recipes that a search tries, and how near their own answers are to the given ones.
#pragma once

#include <string>
#include <vector>

#include "oracle/diagnosis/recipe/recipe_changes.h"
#include "oracle/diagnosis/recipe/recipe_witness.h"

namespace sextant::oracle {

// A method is told apart if its own answer is this much farther away (as causes,
// catalog/named_causes.cc).
inline constexpr double kFarther = 2;

// A candidate and the errors that it permits on each witness.
struct TriedRecipe {
  RecipeCandidate candidate;
  std::vector<Elements> permitted{};
  bool permits = false;             // all errors of a witness
  std::vector<size_t> explained{};  // indices of witnesses whose errors it permits, and has itself
  double ulps = 0;                  // MeanUlps of those
  double distance = 0;              // of its own answer from the given one (DistanceOf)
};

using RecipeWitnesses = std::vector<RecipeWitness>;

// The permitted errors of both changes together on witness w, if they were exactly additive.
Elements SumOf(const RecipeWitnesses& witnesses, const TriedRecipe& a, const TriedRecipe& b,
               size_t w);
// The witnesses whose errors these sums permit.
size_t CountExplained(const RecipeWitnesses& witnesses, const TriedRecipe& a, const TriedRecipe& b);
// True of loosest rules of one or two steps with which narrower ones of these steps may explain a
// witness.
bool MayExplain(const RecipeWitnesses& witnesses, const TriedRecipe& a, const TriedRecipe& b);

// The sum of the distances of the recipe's own answers (DistanceOf).
double DistanceFrom(const RecipeWitnesses& witnesses, const std::string& recipe);

// A narrow recipe may permit what another one computes. Of those that explain as many witnesses as
// the first, puts one first whose own answers are much nearer to the given ones.
void PutNearestFirst(const RecipeWitnesses& witnesses, std::vector<TriedRecipe>& tried);

// Methods of the same formats often permit each other's answers. Of those that explain as many
// witnesses as the first candidate, puts the one first whose own answer is nearest to the given
// one. Returns their number.
size_t PutNearestMethodFirst(const RecipeWitnesses& witnesses, std::vector<TriedRecipe>& tried);

}  // namespace sextant::oracle
