// Proves slices of a case: the levels of the ladder (proof.h) in their order. Private to this
// folder.
#pragma once

#include <vector>

#include "reference/prove/case_slices.h"
#include "reference/prove/proof.h"

namespace sextant {

// The numbers of a slice by Counted. `encloses`: centre +- drift of every element encloses its
// exact value.
struct CountedSlice {
  Outputs<Counted> outputs;
  bool encloses;
};
CountedSlice CountSlice(const Evaluation& evaluation, const Slice& slice);

// The errors of an element of which every bit is specified (golden.h).
inline const Counted kNoError{};

// Sets element i.
void Set(PermittedTensor& permitted, size_t i, const Counted& x);
// Sets it to the errors of element k of an output.
void Set(PermittedTensor& permitted, size_t i, const Output<Counted>& output, size_t k);
// Writes the errors of a slice into the tensors of the whole case.
void SetSlice(const Case& c, const Outputs<Counted>& counted, const Slice& slice,
              std::vector<PermittedTensor>& permitted);

// The golden of output o, without elements.
GoldenTensor EmptyGolden(const Evaluation& evaluation, size_t o);
// The goldens of a part of which no slice is proven: all elements are left out.
std::vector<GoldenTensor> MakeGolden(const Evaluation& evaluation, const Slice& part,
                                     const ProveOptions& options);

// Several threads may prove different slices at the same time.
class Prover {
 public:
  // Writes to `golden`, and to `permitted` unless it is null. All must outlive this.
  Prover(const Evaluation& evaluation, Engine engine, std::vector<GoldenTensor>& golden,
         std::vector<PermittedTensor>* permitted);
  // For tensors of the slice `window` alone. Then all slices must be parts of it.
  Prover(const Evaluation& evaluation, Engine engine, const Slice& window,
         std::vector<GoldenTensor>& golden);
  // The same by the ladder, with permitted errors. `memory` is used for one slice after the other.
  Prover(const Evaluation& evaluation, const Slice& window, ProvenAndPermitted& part,
         CountedOutput& memory);

  // Proves all elements of the slice, from level 2 on.
  void ProveSlice(const Slice& slice);
  // Encloses all elements of the slice by level 1; proves those that have no enclosure there.
  void EncloseSlice(const Slice& slice);
  // Proves the marked elements of the slice, and some others.
  void ProveMarked(const Slice& slice, const ElementMarks& marks);

 private:
  bool Encloses(const CountedSlice& counted, const Slice& slice) const;
  void SetPermitted(const Outputs<Counted>& counted, const Slice& slice);
  // Sets all numbers of a slice of which every bit is specified, by any number type.
  template <class Real>
  void SetStored(const Slice& slice);
  // Proves or encloses the slice by Operation::EvaluateInArrays. Returns the number of elements
  // that stay undecided; empty if it cannot.
  std::optional<size_t> SettleInArrays(const Slice& slice, bool encloses);

  const bool climbs_;         // the levels below 3 decide
  const bool finite_;         // all inputs are; false if that is not known
  const bool only_encloses_;  // level 3 would take too long
  const ProofState proof_;
  std::vector<PermittedTensor>* const permitted_;
  CountedOutput* const memory_ = nullptr;
};

}  // namespace sextant
