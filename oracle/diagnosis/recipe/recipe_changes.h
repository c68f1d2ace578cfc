// The recipes that differ from a given one in few steps.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reference/number/recipe/recipe.h"

namespace sextant::oracle {

// A recipe that is tried. A standard recipe, the word `flush`, one precision for all steps, another
// format or form of a step, another accuracy of its functions, and a step of a known implementation
// count as one change each.
struct RecipeCandidate {
  std::string text;            // parses as a recipe
  int changes = 0;             // from the start; 0: CountChanges has to say it
  std::string change{};        // the word that is appended to the start; empty: another recipe
  std::optional<Step> step{};  // that the word changes; empty: all
  bool is_loosest = false;     // of the rules of its step: if it explains nothing, none does
};

// A kernel that adds a residual in f32 to what it has not rounded yet, and then rounds once.
inline constexpr std::string_view kRoundedOnce = "keep=f32";

// The changes of single steps between two recipes for that dtype.
int CountChanges(const Recipe& from, const Recipe& to, DType dtype);
// The most of any of the dtypes.
int MostChanges(const std::string& from, const std::string& to, const std::set<DType>& dtypes);
// True if each step of `a` is that of `b`, or exact, or has a format that contains that of `b`.
bool HasWiderFormats(const std::string& a, const std::string& b, const std::set<DType>& dtypes);

// True if the recipes differ in nothing but the methods of their steps, and accuracies.
bool HaveSameFormats(const Recipe& a, const Recipe& b, DType dtype);
// True if the functions of all steps have the same accuracies. They do not depend on the dtype.
bool HaveSameAccuracies(const std::string& a, const std::string& b);

// The step in each format and by each of its methods, as words: "sum=f32:pairwise". Usual
// formats come first.
std::vector<std::string> MethodsOf(Step step);

// Recipes that differ from `start` in one of the steps, or that are no changes of single steps. The
// formats of a step are those of the dtypes and T, the accuracies of its functions 1, 2 and 4 ulps,
// and its forms those that it has.
std::vector<RecipeCandidate> RecipesNear(const std::string& start, const std::set<Step>& steps);

}  // namespace sextant::oracle
