// Bugs of whatever computes angles from positions and frequencies, from real threads and commits.
// In the references owner/repo#N is an issue or pull request on GitHub, owner/repo@sha a commit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

// Of the input that holds positions.
std::vector<Defect> PositionDefects(const std::string& input = "position");

// Of formats and forms, for the steps of an operation (its kSteps).
std::vector<Defect> PrecisionDefects(std::string_view steps);

// Of an input `inv_freq`.
std::vector<Defect> GivenFrequencyDefects();

}  // namespace sextant::oracle
