// Defects of all decoder blocks.
#pragma once

#include <vector>

#include "oracle/block/block_mutation.h"
#include "oracle/defect/defect.h"

namespace sextant::oracle {

// Mutations of the formula: of the way in which the block combines its parts.
std::vector<NamedMutation<BlockMutation>> BlockMutations();

// Defects of inputs, of the scale of scores, and of steps in a too narrow format.
std::vector<Defect> BlockInputDefects();

}  // namespace sextant::oracle
