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

// An element is open while its radius is above 0. The golden of an open element has the enclosure
// of the highest precision that gave one, or an infinite radius if none did.
struct ProofState : Evaluation {
  std::vector<GoldenTensor>& golden;
  const Slice& window = kWholeCase;  // the golden has only the elements of this slice

  // The indices in the golden of output `output` of the elements of the slice.
  std::vector<size_t> IndicesOf(size_t output, const Slice& slice) const;
  // The same as runs of consecutive indices.
  std::vector<Run> RunsOf(size_t output, const Slice& slice) const;
};

// Opens all elements of a slice. An element is left out until then.
void Open(const ProofState& proof, const Slice& slice);
// Opens the marked elements; false if none is.
bool OpenMarked(const ProofState& proof, const Slice& slice, const ElementMarks& marks);

// Parts of a slice that contain all open elements. At least half of the elements of a part are
// open, unless the part cannot be cut.
std::vector<Slice> OpenParts(const ProofState& proof, const Slice& slice);

// Level 1: decides what it can at once, and encloses the rest: a negative radius (Enclose,
// prove.h). Elements stay open that have no enclosure, or no finite permitted error; returns their
// number.
size_t EncloseBy(const Outputs<Counted>& outputs, const ProofState& proof, const Slice& slice);

// Level 2: decides what it can by the outputs of an evaluation, and opens all other elements of the
// slice. Returns their number.
size_t SettleBy(const Outputs<Counted>& outputs, const ProofState& proof, const Slice& slice);

// EncloseBy if `encloses`, else SettleBy, by numbers of the only output in arrays. Sets the
// permitted errors of the elements that are not open, too; `permitted` may be null.
size_t SettleBy(CountedOutput& y, bool encloses, const ProofState& proof, const Slice& slice,
                PermittedTensor* permitted);

// Instead of level 3: what level 2 leaves open stays open, enclosed by centre and drift of the
// outputs.
void EncloseOpenBy(const Outputs<Counted>& outputs, const ProofState& proof, const Slice& slice);

// Level 3: proves the open elements of a slice.
void ProveOpen(const ProofState& proof, const Slice& slice);

}  // namespace sextant
