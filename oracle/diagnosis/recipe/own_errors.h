// Whether a recipe by which answers conform also has their errors. A recipe that permits much
// permits bugs, too: then the errors of its own answers are others.
#pragma once

#include <span>
#include <string>

#include "oracle/diagnosis/recipe/recipe_search.h"

namespace sextant::oracle {

// True if the recipe rounds some step to fewer digits than the dtype has, and most of the compared
// elements that fail by the start are about as far from its own answer as from the exact value, if
// these are enough to show it. Not if a standard recipe has their errors, which may permit too much
// to be found. Never of a recipe whose own answers do not tell: they depend on the order of sums,
// or its functions may be less accurate.
bool HasOtherErrors(const std::string& recipe, std::span<const JudgedAnswer> answers);

// True if the recipe would permit zeros instead of most numbers: then that it permits the answer
// says little.
bool PermitsZeros(const std::string& recipe, const JudgedAnswer& answer);

}  // namespace sextant::oracle
