// Another order of axes by which a failing answer conforms: attention that was given as [B,S,H,D]
// fits the signature too, with heads and sequence exchanged, and fails.
#pragma once

#include <string>

#include "reference/case/question.h"
#include "reference/number/recipe/recipe.h"

namespace sextant::tools {

// " 'q (B S H D)' 'y (B S H D)'": the names that say it, if the answer conforms with the second and
// third axes of all tensors of four axes exchanged. Else empty. Takes as long as a judgement.
std::string LayoutByWhichItConforms(const Question& question, const Recipe& recipe);

}  // namespace sextant::tools
