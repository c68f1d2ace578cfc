// Defects of attention in all its forms.
#pragma once

#include <vector>

#include "oracle/attention/attention_mutant.h"
#include "oracle/defect/defect.h"

namespace sextant::oracle {

// Those of every form: cases, inputs and recipes changed.
std::vector<Defect> AttentionDefects();
// Of those: windows, chunks, lengths and segments that are a little off.
std::vector<Defect> MaskDefects();
// Of those: steps in too few bits, which all forms have.
std::vector<Defect> AttentionRecipeDefects();
// And that of whatever has key_length.
Defect LengthOneMore();

// Those of the formula, for MutatedFormulas of each form's mutant.
std::vector<NamedMutation<AttentionMutation>> AttentionMutations();

}  // namespace sextant::oracle
