// Judges elements of one tensor, part by part. Private to this folder.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
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

// What is known of single elements of the whole tensor. Several threads may set different elements.
class OfElements {
 public:
  enum class Keep { kElements, kRows };  // kRows: less memory
  OfElements(const Shape& shape, Keep keep);
  void Set(size_t first, size_t count, ElementStatus status);
  void SetFailing(size_t first, size_t count);
  // The results, of kElements once, and of kRows.
  std::vector<ElementStatus> TakeStatuses() { return std::move(statuses_); }
  std::vector<RowStatus> RowStatuses() const;
  const std::vector<bool>& fails() const { return fails_; }  // empty: none

 private:
  const size_t elements_, width_;
  std::vector<ElementStatus> statuses_;
  std::vector<std::atomic<uint8_t>> rows_;  // kHasJudged, kHasOpen
  std::mutex mutex_;                        // of fails_
  std::vector<bool> fails_;
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
  bool HasFailing() const { return verdict_.failed > 0; }
  bool HasUnlikely() const { return verdict_.unlikely > 0; }
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
