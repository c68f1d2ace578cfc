// What a subject's rotation computes: layout, gain, positions and frequencies, each measured by
// itself, so that several wrong ones are found together.
#pragma once

#include <vector>

#include "oracle/rope/measured/fit.h"

namespace sextant::oracle {

// One explanation by several deviations at once: names joined by +, sentences by semicolons.
Explanation ExplanationOf(const std::vector<Part>& parts, Hypothesis model);

std::vector<Explanation> ExplainRotation(const RotaryQuestion& question);

// The measurements of an operation that rotates.
template <class Op>
std::vector<Measurement> RotationMeasurements();

// The measurement of rope for an x that was computed: its errors are in those permitted in y.
std::vector<Explanation> ExplainRopeOfComputed(const Observation& seen);

}  // namespace sextant::oracle
