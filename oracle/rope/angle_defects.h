// Defects of operations that compute angles from positions and frequencies, from real issues and
// commits. In references, owner/repo#N is an issue or pull request on GitHub; owner/repo@sha is a
// commit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

// Defects of the input that holds positions.
std::vector<Defect> PositionDefects(const std::string& input = "position");

// Defects of the formats and evaluation forms of steps; `steps` is the kSteps of an operation.
std::vector<Defect> PrecisionDefects(std::string_view steps);

// Defects of an input `inv_freq`.
std::vector<Defect> GivenFrequencyDefects();

}  // namespace sextant::oracle
