#include "oracle/diagnosis/recipe/tried_recipe.h"

#include <algorithm>
#include <span>

namespace sextant::oracle {
namespace {

constexpr ptrdiff_t kMostNear = 32;  // recipes whose own answers are compared

}  // namespace

Elements SumOf(const RecipeWitnesses& witnesses, const TriedRecipe& a, const TriedRecipe& b,
               size_t w) {
  Elements sum = a.permitted[w];
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += b.permitted[w][i] - witnesses[w].before[i];
  return sum;
}

size_t CountExplained(const RecipeWitnesses& witnesses, const TriedRecipe& a,
                      const TriedRecipe& b) {
  size_t explained = 0;
  for (size_t w = 0; w < witnesses.size(); ++w)
    explained += PermitsSum(a.permitted[w], b.permitted[w], witnesses[w]);
  return explained;
}

bool MayExplain(const RecipeWitnesses& witnesses, const TriedRecipe& a, const TriedRecipe& b) {
  if (!a.candidate.step || !b.candidate.step) return false;
  for (size_t w = 0; w < witnesses.size(); ++w)
    if (MayPermitSum(a.permitted[w], b.permitted[w], witnesses[w])) return true;
  return false;
}

double DistanceFrom(const RecipeWitnesses& witnesses, const std::string& recipe) {
  double distance = 0;
  for (const RecipeWitness& witness : witnesses) distance += DistanceOf(witness, recipe);
  return distance;
}

void PutNearestFirst(const RecipeWitnesses& witnesses, std::vector<TriedRecipe>& tried) {
  if (tried.empty() || witnesses.empty()) return;
  const size_t explained = tried.front().explained.size();
  auto nearest = tried.begin();
  for (auto at = tried.begin(); at != tried.end() && at - tried.begin() < kMostNear; ++at) {
    if (at->explained.size() != explained) break;
    at->distance = DistanceFrom(witnesses, at->candidate.text);
    if (at->distance < nearest->distance) nearest = at;
  }
  if (kFarther * nearest->distance < tried.front().distance)
    std::rotate(tried.begin(), nearest, nearest + 1);
}

size_t PutNearestMethodFirst(const RecipeWitnesses& witnesses, std::vector<TriedRecipe>& tried) {
  if (tried.empty() || witnesses.empty()) return 0;
  const DType dtype = witnesses.front().answer->c.dtype();
  const auto recipe_of = [&](const TriedRecipe& one) {
    return ParseRecipe(one.candidate.text, dtype);
  };
  const Recipe first = recipe_of(tried.front());
  const size_t explained = tried.front().explained.size();
  const auto rest = std::ranges::stable_partition(tried, [&](const TriedRecipe& one) {
    return HaveSameFormats(recipe_of(one), first, dtype) && one.explained.size() == explained;
  });
  const std::span methods(tried.begin(), rest.begin());
  for (TriedRecipe& one : methods) one.distance = DistanceFrom(witnesses, one.candidate.text);
  std::ranges::stable_sort(methods, {}, &TriedRecipe::distance);
  return methods.size();
}

}  // namespace sextant::oracle
