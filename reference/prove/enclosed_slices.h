// The enclosures of a case, one slice after the other in the same memory: those of Enclose
// (prove.h), in less time if nobody needs the whole case at once, because memory that is used again
// stays in the cache.
#pragma once

#include <memory>

#include "reference/prove/case_slices.h"

namespace sextant {

class EnclosedSlices {
 public:
  // What the evaluation refers to must outlive this. Requires HasLevel1(evaluation.c).
  explicit EnclosedSlices(const Evaluation& evaluation);
  ~EnclosedSlices();

  void Enclose(const Slice& slice);
  // Proves the marked elements of the slice that was enclosed last, and some others.
  void ProveMarked(const ElementMarks& marks);
  // Of the slice that was enclosed last; the tensors have only its elements.
  const ProvenAndPermitted& reference() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace sextant
