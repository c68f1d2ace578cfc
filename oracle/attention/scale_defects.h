// Defects of the factor of the scores.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

// Another scale in cases that do not set one.
std::vector<Defect> ScoreScaleDefects();
// The scale, or its root, is an attribute of f32. They show in f64.
std::vector<Defect> ScalesInF32();

}  // namespace sextant::oracle
