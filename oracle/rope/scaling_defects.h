// Defects of the scalings of frequencies, from real issues and commits. In references, owner/repo#N
// is an issue or pull request on GitHub; owner/repo@sha is a commit.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

// Defects of the scalings linear and llama3.
std::vector<Defect> ScalingDefects();

// Defects of the other scalings, which also depend on `base` and `seq_len`.
std::vector<Defect> ExtensionDefects();
// Those of ExtensionDefects that concern the scaling dynamic.
std::vector<Defect> DynamicDefects();

}  // namespace sextant::oracle
