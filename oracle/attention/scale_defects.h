// Defects of the factor of the scores.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

// Another scale in cases that do not set one.
std::vector<Defect> ScoreScaleDefects();
// A scale of 1, also in cases that set one, or of 1/D.
std::vector<Defect> ScaleDefects();
// The scale, or its root, is an attribute of f32. They show in f64.
std::vector<Defect> ScalesInF32();

}  // namespace sextant::oracle
