// The reference values of a case for a verdict, one slice after the other in the same memory: those
// of Enclose (prove.h), in less time if nobody needs the whole case at once, because memory that is
// used again stays in the cache.
#pragma once

#include <memory>

#include "reference/prove/case_slices.h"

namespace sextant {

class EnclosedSlices {
 public:
  // What the evaluation refers to must outlive this.
  explicit EnclosedSlices(const Evaluation& evaluation);
  ~EnclosedSlices();

  // `outputs`: those of a subject for a trace, of this slice alone, which must outlive the proofs
  // of the slice; null: no trace. A trace, and a case without level 1 (HasLevel1), are proven.
  void Enclose(const Slice& slice, const Tensors* outputs = nullptr);
  // Proves the marked elements of the slice that was enclosed last, and some others.
  void ProveMarked(const ElementMarks& marks);
  // Of the slice that was enclosed last; the tensors have only its elements.
  const ProvenAndPermitted& reference() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace sextant
