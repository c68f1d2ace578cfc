// Defects of all attention operations.
#pragma once

#include <vector>

#include "oracle/attention/attention_mutation.h"
#include "oracle/defect/defect.h"

namespace sextant::oracle {

// Defects of cases, inputs and recipes, for every attention operation.
std::vector<Defect> AttentionDefects();
// Those of AttentionDefects that change windows, chunks, lengths and segments.
std::vector<Defect> MaskDefects();
// Those of AttentionDefects that compute a step in a too narrow format; every operation has these
// steps.
std::vector<Defect> AttentionRecipeDefects();
// The defect of every operation with key_length: one key too many is read.
Defect LengthOneMore();

// The mutations of the formula, for MutatedFormulas of each operation.
std::vector<NamedMutation<AttentionMutation>> AttentionMutations();

}  // namespace sextant::oracle
