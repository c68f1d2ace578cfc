// The recipe whose own answers have the bits of the given ones. Permitted errors tell only which
// recipes are loose enough, and a loose one may permit everything; the bits of an answer tell
// nearly always in which formats its steps were rounded. They can be told only of implementations
// that compute the formula as it is written (reference/), with correctly rounded functions.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "oracle/diagnosis/recipe/recipe_search.h"

namespace sextant::oracle {

struct RecipeOfBits {
  std::string recipe;
  size_t elements = 0;  // that were compared: all have the same bits
};

// Begins with `start`, or else with the standard recipe whose own answers are nearest, and changes
// the step that brings them nearest to the given ones, then another, at most three. Compares parts
// of the answers (compared_parts.h). Empty if the bits differ.
std::optional<RecipeOfBits> FindRecipeOfBits(std::span<const JudgedAnswer> answers,
                                             const std::string& start, const ProveOptions& prove);

}  // namespace sextant::oracle
