// Judges elements of one tensor, part by part. Private to this folder.
#pragma once

#include <utility>
#include <vector>

#include "oracle/judge/bias.h"
#include "oracle/judge/tensor_judge.h"

namespace sextant::oracle {

// A part of an answered tensor. Of its elements to be judged, which are consecutive, the first is
// element `begin` of the whole tensor.
struct AnsweredPart {
  const GoldenTensor& golden;
  const PermittedTensor& permitted;
  const Tensor<double>& got;
  const GoldenTensor& end_to_end;  // is NaN where the case specifies no value
  size_t begin = 0;
};

// What is known of single elements of the whole tensor.
struct OfElements {
  explicit OfElements(size_t count) : statuses(count), fails(count) {}
  std::vector<ElementStatus> statuses;
  std::vector<bool> fails;
};

class RangeJudge {
 public:
  // The whole tensor has the shape `shape`, which must outlive this, as `elements`. `independent`:
  // the standard error of the bias is needed.
  RangeJudge(const Shape& shape, bool independent, OfElements& elements)
      : shape_(shape),
        elements_(elements),
        independent_(independent),
        bias_(CountOf(shape), RowWidth(shape), independent) {}

  // Judges elements first .. last - 1 of the part. Of elements that are equally bad, the first of
  // the whole tensor is the worst.
  void Judge(const AnsweredPart& part, size_t first, size_t last);
  // Adds the result for other elements.
  void Merge(const RangeJudge& next);
  // Replaces the worst element by that of another, which has judged it from proven numbers.
  void SetWorstOf(const RangeJudge& other) {
    worst_ = other.worst_;
    worst_index_ = other.worst_index_;
    verdict_.worst = other.verdict_.worst;
  }
  // The verdict on the elements judged, if they are the whole tensor of that name.
  TensorVerdict Total(const std::string& name, double correct_bias_bound) const;

 private:
  // `index`: of the first element in the whole tensor.
  void JudgeBlock(const AnsweredPart& part, size_t first, size_t count, size_t index);
  void JudgeElement(const AnsweredPart& part, size_t i, size_t index);
  void JudgeNonfinite(const AnsweredPart& part, size_t i, size_t index);
  double WorstWithin(size_t index) const;
  void SetIfWorst(const AnsweredPart& part, size_t i, size_t index, const Rank& rank);
  bool IsWorse(const Rank& rank, size_t index) const {
    return rank > worst_ || (rank == worst_ && index < worst_index_);
  }

  const Shape& shape_;
  OfElements& elements_;
  const bool independent_;
  TensorVerdict verdict_{};
  Bias bias_;
  Rank worst_ = {Grade::kExact, -1};
  size_t worst_index_ = 0;  // in the whole tensor
};

}  // namespace sextant::oracle
