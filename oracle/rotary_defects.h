// Bugs that rotary embeddings have in common, from real threads and commits. In the references
// owner/repo#N is an issue or pull request on GitHub, owner/repo@sha a commit.
#pragma once

#include <vector>

#include "oracle/defect.h"

namespace sextant::oracle {

// Of the rotation of channels: RopeRotate, RopeGiven, Rope, RopeComplex, RopeMatrix.
template <class Op>
std::vector<Defect> TurnDefects();

// Of frequencies: RopeFrequencies, Rope, RopeComplex, RopeMatrix.
template <class Op>
std::vector<Defect> FrequencyDefects();

}  // namespace sextant::oracle
