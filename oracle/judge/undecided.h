// The elements of an answer whose verdict level 1 of the ladder does not decide (Enclose,
// reference/prove/prove.h). An element that is only enclosed is decided if the exact value and the
// permitted error may lie anywhere within their bounds without changing its grade.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "oracle/judge/tensor_judge.h"

namespace sextant::oracle {

// The elements that must be proven: those whose grade is undecided, those that may be the worst of
// their tensor, so that a verdict states proven numbers, and all of a tensor whose worst is
// unlikely.
class Undecided {
 public:
  // The outputs, which fit the case, and the reference values must outlive this. threads: 0 for all
  // cores. `worst`: an element elsewhere has this rank, one for each output; empty: none.
  Undecided(const ProvenAndPermitted& reference, const Tensors& outputs, int threads,
            std::vector<Rank> worst = {});
  ~Undecided();
  // Marks them; no marks if nothing is to be proven. Whoever calls it again has proven them: an
  // element may then have another rank, and others may be the worst. Others may have been proven
  // beside them (ProveMarked): what was known of them from their enclosures stays valid.
  ElementMarks Next();
  // Lower bounds of the worst ranks, here or elsewhere, since the last call.
  const std::vector<Rank>& worst() const { return worst_; }

 private:
  class Marker;
  const ProvenAndPermitted& reference_;
  std::vector<std::unique_ptr<Marker>> markers_;  // of each output; null: nothing to be proven
  std::vector<Rank> elsewhere_, worst_;
};

// The numbers that decide the rank of an element: the answer, high, low, radius and both bounds.
using ElementNumbers = std::array<double, 6>;

// The ranks of the elements of a tensor whose grade is decided.
struct RankRange {
  Rank least{};          // the largest lower bound
  Rank most{};           // the largest upper bound of those that are only enclosed
  ElementNumbers top{};  // the numbers of an element with that bound
  size_t top_at = 0;     // the first element with these numbers
  Rank next{};           // as `most`, of elements that conform and have other numbers than `top`
  void Include(const RankRange& of);
};
// Marks the elements of an output whose grade is undecided. Includes the others in `ranks`.
std::vector<char> UndecidedGradesIn(const GoldenTensor& golden, const PermittedTensor& permitted,
                                    const Tensor<double>& got, RankRange& ranks);

}  // namespace sextant::oracle
