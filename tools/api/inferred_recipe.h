// The recipe that a subject follows, inferred from its answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/diagnosis/recipe/recipe_of_bits.h"
#include "oracle/diagnosis/recipe/recipe_search.h"
#include "oracle/diagnosis/recipe/sums_in_order.h"
#include "oracle/subject/subject.h"
#include "tools/api/selection.h"

namespace sextant::tools {

struct InferredRecipe {
  std::string subject, start;               // the recipe with which the search began
  std::vector<std::string> cases{};         // lines of the answered cases
  std::vector<std::string> not_answered{};  // messages
  size_t unsupported = 0, could_not_run = 0;
  std::vector<std::string> failing{};  // lines of the cases that fail by the start
  std::string where{};  // what they have in common: "all with dtype=f64 at pair >= 1"
  std::optional<oracle::FoundRecipe> found{};
  // Of the first failing answer, if a cause explains it, and no honest precision does: then the
  // found recipe only permits the errors.
  std::vector<oracle::Cause> causes{};
  std::vector<std::string> still_failing{};  // lines of those that fail by the found recipe, too
  // The recipe whose own answers have the same bits. It is also the found one, unless it permits
  // too much.
  std::optional<oracle::RecipeOfBits> of_bits{};
  // Of the sums, if all answers conform by the found recipe, or have the bits of another.
  std::optional<oracle::FoundOrder> order{};
};

// Asks for the answer to every case once. Throws Error for a wrong recipe.
InferredRecipe InferRecipe(const std::vector<Selected>& selected, const oracle::Subject& subject,
                           const oracle::RecipeSearch& search);

}  // namespace sextant::tools
