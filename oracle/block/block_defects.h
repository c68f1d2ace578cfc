// Defects that all blocks of a decoder may have.
#pragma once

#include <vector>

#include "oracle/block/block_mutant.h"
#include "oracle/defect/defect.h"

namespace sextant::oracle {

// Of the formula: how the block's parts are put together.
std::vector<NamedMutation<BlockMutation>> BlockMutations();

// Of inputs, of the scale of scores, and of steps in too few bits.
std::vector<Defect> BlockInputDefects();

}  // namespace sextant::oracle
