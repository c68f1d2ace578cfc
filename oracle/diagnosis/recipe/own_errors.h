// Whether a recipe by which answers conform also has their errors. A recipe that permits much
// permits bugs, too: then the errors of its own answers are others.
#pragma once

#include <span>
#include <string>

#include "oracle/diagnosis/recipe/recipe_search.h"

namespace sextant::oracle {

// True if most of the compared elements that fail by the start
// - are not nearer to the recipe's own answer than to the exact value, and it would permit zeros; or
// - are about as far from its own answer as from the exact value, if these are enough to show it,
//   and if it rounds numbers of the dtype in some step. Not if a standard recipe has their errors,
//   which may permit too much to be found; never of a recipe whose own answers do not tell: they
//   depend on the order of sums, or its functions may be less accurate.
bool HasOtherErrors(const std::string& recipe, std::span<const JudgedAnswer> answers);

}  // namespace sextant::oracle
