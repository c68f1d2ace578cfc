// Bugs of the scalings of frequencies, from real threads and commits. In the references
// owner/repo#N is an issue or pull request on GitHub, owner/repo@sha a commit.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

// Of an attribute `scaling`: linear and llama3.
std::vector<Defect> ScalingDefects();

// Of the others, which also depend on `base` and `seq_len`.
std::vector<Defect> ExtensionDefects();
// Of those: dynamic.
std::vector<Defect> DynamicDefects();

}  // namespace sextant::oracle
