// The proof of one slice, as a ladder: an element climbs to the next level only if the enclosure of
// this level does not decide its rounding. Level 2 is the double-double centre and drift of
// Counted, level 3 is Interval with rising precision. Private to this folder.
#pragma once

#include <vector>

#include "reference/prove/evaluate.h"
#include "reference/prove/golden.h"

namespace sextant {

// An element is open until its radius is 0. The golden of an open element has the enclosure of the
// highest precision that gave one, or an infinite radius if none did.
struct ProofState : AppliedFormula {
  std::vector<GoldenTensor>& golden;

  // The indices in the golden of output `output` of the elements of the slice.
  std::vector<size_t> IndicesOf(size_t output, const Slice& slice) const;
};

// Opens all elements of a slice. An element is left out until then.
void Open(const ProofState& proof, const Slice& slice);

// Level 2: decides what it can by the outputs of an evaluation.
void SettleBy(const Outputs<Counted>& outputs, const ProofState& proof, const Slice& slice);

// What level 2 leaves open, stays open: enclosed by centre and drift of the outputs.
void EncloseBy(const Outputs<Counted>& outputs, const ProofState& proof, const Slice& slice);

// Level 3: proves the open elements of a slice.
void ProveOpen(const ProofState& proof, const Slice& slice);

}  // namespace sextant
