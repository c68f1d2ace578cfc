// The proof of one slice, as a ladder: an element climbs to the next level only if the enclosure of
// this level does not decide it. Level 1 and 2 are centre and drift of Counted: at level 1, centres
// may be doubles (EvaluationContext::double_centers), which is enough for a verdict; at level 2
// they are double-double, which decides nearly all goldens. Level 3 is Interval with rising
// precision. Private to this folder.
#pragma once

#include <vector>

#include "reference/case/array_operation.h"
#include "reference/prove/case_slices.h"
#include "reference/prove/golden.h"
#include "reference/prove/prove.h"

namespace sextant {

inline const Slice kWholeCase;

// An element is undecided while its radius is above 0. Its golden then has the enclosure of the
// highest precision that gave one, or an infinite radius if none did.
struct ProofState : Evaluation {
  std::vector<GoldenTensor>& golden;
  const Slice& window = kWholeCase;  // the golden has only the elements of this slice

  // The indices in the golden of output `output` of the elements of the slice.
  std::vector<size_t> IndicesOf(size_t output, const Slice& slice) const;
  // The same as runs of consecutive indices.
  std::vector<Run> RunsOf(size_t output, const Slice& slice) const;
};

// Makes all elements of a slice undecided. An element is left out until then.
void MakeUndecided(const ProofState& proof, const Slice& slice);
// Makes the marked elements undecided; false if none is marked.
bool MakeUndecided(const ProofState& proof, const Slice& slice, const ElementMarks& marks);

// Parts of a slice that contain all undecided elements. At least half of the elements of a part are
// undecided, unless the part cannot be cut.
std::vector<Slice> UndecidedParts(const ProofState& proof, const Slice& slice);

// Level 1: decides what it can at once, and encloses the rest: a negative radius (Enclose,
// prove.h). Elements without an enclosure or a finite permitted error stay undecided; returns their
// number.
size_t EncloseBy(const Outputs<Counted>& outputs, const ProofState& proof, const Slice& slice);

// Level 2: decides what it can by the outputs of an evaluation; all other elements of the slice are
// undecided. Returns their number.
size_t SettleBy(const Outputs<Counted>& outputs, const ProofState& proof, const Slice& slice);

// EncloseBy if `encloses`, else SettleBy, by numbers of the only output in arrays. Sets the
// permitted errors of the elements that are not undecided, too; `permitted` may be null.
size_t SettleBy(CountedOutput& y, bool encloses, const ProofState& proof, const Slice& slice,
                PermittedTensor* permitted);

// Instead of level 3: what level 2 leaves undecided stays so, enclosed by centre and drift of the
// outputs.
void EncloseUndecidedBy(const Outputs<Counted>& outputs, const ProofState& proof,
                        const Slice& slice);

// Level 3: proves the undecided elements of a slice.
void ProveUndecided(const ProofState& proof, const Slice& slice);

}  // namespace sextant
