// The narrowest recipe by which stored answers conform.
//
// A recipe says in which format and by which method each step is computed
// (reference/number/recipe/recipe.h). The search begins with the recipe that the answers are
// claimed to follow and changes one step, then two. The permitted error of an element is, to first
// order, a sum with one term per step; so the pairs of changes that may suffice are those whose
// increments of the permitted errors do. First all recipes see the worst failing slice of each
// failing case, of its trace if only that fails; then only wider formats are tried. Of those that
// permit all errors there, the narrowest is tried first: by it every answer is judged again. A
// recipe that permits nearly everything explains nothing: an element that could fail by the
// starting recipe must be able to fail in kMostStayJudgeable of all cases.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oracle/judge/judge.h"

namespace sextant::oracle {

inline constexpr double kMostStayJudgeable = 0.9;  // of the elements that could fail

// An answer to one case and the verdict on it by the starting recipe. Does not own anything.
struct JudgedAnswer {
  const Case& c;
  const Tensors& inputs;
  const Tensors& outputs;  // which fit the case
  const Judge& judge;      // by the starting recipe
  const Verdict& verdict;  // of that judge
};

struct RecipeSearch {
  std::string start;     // a standard recipe or a recipe line
  int most_changes = 2;  // 1 or 2
  ProveOptions prove{};
  // By other recipes, only a random part of an answer is judged if its judgement may take many
  // times as long as the one by the start (MostWork, work.h), and a smaller one by a recipe of
  // which a part says enough: one that has other errors, or, of a large case, one that permits
  // zeros (own_errors.h). Where no part can be judged, none is tried, but for kRoundedOnce
  // (recipe_changes.h) if only the trace fails.
  bool in_part = false;
};

struct FoundRecipe {
  std::string recipe;
  int changes = 0;  // steps that differ from the start; another standard recipe counts as one
  // The geometric mean, over the worst failing slices that it explains, of the permitted error in
  // ulps of the output, by this recipe and by the start.
  double ulps = 0, ulps_before = 0;
  // Elements that could fail, of the cases that conform.
  size_t judgeable = 0, judgeable_before = 0;
  // Other methods of the same step by which all answers conform, too, and whose own answers are not
  // much farther from the given ones.
  std::vector<std::string> others{};
  std::vector<size_t> failing{};   // indices of the answers that fail by it, too
  bool has_other_errors = false;   // than the answers (own_errors.h), if all conform by it
  std::optional<Sample> sample{};  // of the last answer, if only a part of it was judged

  // How many times as much it permits as the start; 0 if no slice says it: only intermediates fail.
  double Width() const { return ulps_before > 0 ? ulps / ulps_before : 0; }
};

// What is found if the recipe is the only one that is tried. Empty if an answer fails by it, or if
// too few elements stay judgeable.
std::optional<FoundRecipe> JudgedBy(const std::string& recipe,
                                    std::span<const JudgedAnswer> answers,
                                    const RecipeSearch& search);

// The recipe with the fewest changes by which all answers conform, and among those the one that
// permits least; one with other errors than the answers only if there is no other. If there is
// none, the one by which most of the failing answers conform; empty if that is none of them. If all
// answers conform by the start: the standard recipe that permits least and by which they conform,
// or the start if none permits less.
std::optional<FoundRecipe> NarrowestRecipe(std::span<const JudgedAnswer> answers,
                                           const RecipeSearch& search);

}  // namespace sextant::oracle
