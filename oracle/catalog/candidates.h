// The listed defects of an operation as candidates for the cause of an answer.
#pragma once

#include <optional>
#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/diagnosis/evidence.h"

namespace sextant::oracle {

// What the defect predicts for the case. Empty if it does not apply, or if it changes the recipe
// alone: an honest precision and a defect with little effect are no pair.
std::optional<Hypothesis> ButAPrecision(const Defect& defect, const Case& c, const Tensors& inputs,
                                        const Recipe& recipe);

// One candidate for each defect, of what it predicts, or of ButAPrecision. All arguments must
// outlive the candidates.
std::vector<Candidate> CandidatesOf(const std::vector<Defect>& defects, const Case& c,
                                    const Tensors& inputs, const Recipe& recipe);
std::vector<Candidate> CandidatesButPrecisions(const std::vector<Defect>& defects, const Case& c,
                                               const Tensors& inputs, const Recipe& recipe);

}  // namespace sextant::oracle
