#include "oracle/judge/range_judge.h"

#include <algorithm>
#include <cmath>

#include "oracle/judge/ordinary_elements.h"

namespace sextant::oracle {
namespace {

constexpr size_t kBlock = 512;  // one vacuous element makes it slow

constexpr uint8_t kHasJudged = 1, kHasOpen = 2;

// The grade of an element whose permitted error is infinite: never kFails.
Grade GradeOfUnjudgeable(double error, double likely) {
  return error <= likely || std::isinf(likely) ? Grade::kExact : Grade::kUnlikely;
}

// An element is open whose radius, which is permitted too, is more than a negligible part of its
// permitted error: the radius of a file may be wrong. Infinite radii have infinite permitted errors
// (golden.h), unless a file says otherwise.
bool IsLoose(double radius, double permitted) { return radius > permitted * 0x1p-10; }

// error / limit, where 0 / 0 is 0.
double RatioOf(double error, double limit) {
  if (error == 0) return 0;
  return limit > 0 && !std::isnan(error) ? error / limit : INFINITY;
}

Grade GradeIn(const AnsweredPart& part, size_t i, double error, double likely) {
  const double got = part.got.data[i];
  const bool is_within = IsPermitted(part.golden, part.permitted, i, got);
  const Grade grade = GradeOf(part.golden, i, got, is_within, error, likely);
  return HasCodes(part.permitted) && grade == Grade::kFaithful ? Grade::kWithin : grade;
}

}  // namespace

OfElements::OfElements(const Shape& shape, Keep keep)
    : elements_(CountOf(shape)),
      width_(RowWidth(shape)),
      statuses_(keep == Keep::kElements ? elements_ : 0),
      rows_(keep == Keep::kRows ? elements_ / width_ : 0) {}

void OfElements::Set(size_t first, size_t count, ElementStatus status) {
  if (rows_.empty()) {
    std::fill_n(statuses_.begin() + static_cast<ptrdiff_t>(first), count, status);
    return;
  }
  const uint8_t bit = status == ElementStatus::kJudged ? kHasJudged
                      : status == ElementStatus::kOpen ? kHasOpen
                                                       : 0;
  if (bit == 0 || count == 0) return;
  for (size_t row = first / width_; row <= (first + count - 1) / width_; ++row)
    rows_[row].fetch_or(bit, std::memory_order_relaxed);
}

void OfElements::SetFailing(size_t first, size_t count) {
  const std::lock_guard lock(mutex_);
  if (fails_.empty()) fails_.resize(elements_);
  std::fill_n(fails_.begin() + static_cast<ptrdiff_t>(first), count, true);
}

std::vector<RowStatus> OfElements::RowStatuses() const {
  std::vector<RowStatus> rows;
  rows.reserve(rows_.size());
  for (const std::atomic<uint8_t>& row : rows_)
    rows.push_back({(row & kHasJudged) != 0, (row & kHasOpen) != 0});
  return rows;
}

void RangeJudge::Judge(const AnsweredPart& part, size_t first, size_t last) {
  for (size_t at = first; at < last; at += kBlock)
    JudgeBlock(part, at, std::min(kBlock, last - at), part.begin + (at - first));
}

void RangeJudge::Merge(const RangeJudge& next) {
  constexpr size_t TensorVerdict::*kCounts[] = {
      &TensorVerdict::judged,      &TensorVerdict::failed,      &TensorVerdict::vacuous,
      &TensorVerdict::unspecified, &TensorVerdict::unjudgeable, &TensorVerdict::unlikely,
      &TensorVerdict::enclosed,    &TensorVerdict::loose,       &TensorVerdict::left_out};
  for (const auto count : kCounts) verdict_.*count += next.verdict_.*count;
  verdict_.grade = std::max(verdict_.grade, next.verdict_.grade);
  if (IsWorse(next.worst_, next.worst_index_)) {
    worst_ = next.worst_;
    worst_index_ = next.worst_index_;
    verdict_.worst = next.verdict_.worst;
  }
  bias_.Merge(next.bias_);
}

TensorVerdict RangeJudge::Total(const std::string& name, double correct_bias_bound) const {
  TensorVerdict total = verdict_;
  total.name = name;
  total.elements = CountOf(shape_);
  total.bias = bias_.Mean();
  total.spread = bias_.Spread();
  total.correct_bias_bound = correct_bias_bound;
  if (independent_) {
    total.bias_in_standard_errors = bias_.StandardErrors();
    const bool within = total.grade == Grade::kFaithful || total.grade == Grade::kWithin;
    if (within && bias_.IsBeyond(correct_bias_bound)) total.grade = Grade::kUnlikely;
  }
  return total;
}

void RangeJudge::JudgeBlock(const AnsweredPart& part, size_t first, size_t count, size_t index) {
  if (HasCodes(part.permitted) || IsIndex(part.golden)) {
    for (size_t k = 0; k < count; ++k) JudgeElement(part, first + k, index + k);
    return;
  }
  double relative[kBlock];
  How how[kBlock];
  const OrdinaryVerdict ordinary = JudgeOrdinary(
      {part.golden, part.permitted, part.got, first, count}, WorstWithin(index), relative, how);
  verdict_.judged += ordinary.judged;
  verdict_.failed += ordinary.failed;
  verdict_.grade = std::max(verdict_.grade, ordinary.failed > 0  ? Grade::kFails
                                            : !ordinary.faithful ? Grade::kWithin
                                            : !ordinary.exact    ? Grade::kFaithful
                                                                 : Grade::kExact);
  if (ordinary.failed > 0)
    SetIfWorst(part, first + ordinary.most_at, index + ordinary.most_at,
               {Grade::kFails, ordinary.most});
  for (size_t k = 0; k < count;) {
    const size_t begin = k;
    while (k < count && how[k] == how[begin]) ++k;
    if (how[begin] != How::kLeft) elements_.Set(index + begin, k - begin, ElementStatus::kJudged);
    if (how[begin] == How::kConforms) {
      bias_.Add(index + begin, {&part.got.data[first + begin], k - begin},
                {relative + begin, k - begin});
    } else if (how[begin] == How::kFails) {
      elements_.SetFailing(index + begin, k - begin);
    } else {
      for (size_t i = begin; i < k; ++i) JudgeElement(part, first + i, index + i);
    }
  }
}

void RangeJudge::SetIfWorst(const AnsweredPart& part, size_t i, size_t index, const Rank& rank) {
  if (!IsWorse(rank, index)) return;
  worst_ = rank;
  worst_index_ = index;
  const double radius = std::max(part.golden.radius.data[i], 0.0), high = part.golden.high.data[i];
  const double got = part.got.data[i];
  verdict_.worst = {IndexText(part.golden.name, shape_, index),
                    got,
                    high,
                    part.permitted.error.data[i] + radius,
                    ErrorOf(part.golden, i, got),
                    part.permitted.likely.data[i] + radius};
  verdict_.worst.is_index = IsIndex(part.golden);
  verdict_.worst.index = index;
  if (HasCodes(part.permitted))
    verdict_.worst.admissible = AdmissibleOf(part.golden, part.permitted, i);
}

// Elements from this one on that conform and are not unlikely are not the worst up to this error /
// permitted error.
double RangeJudge::WorstWithin(size_t index) const {
  if (worst_.first > Grade::kWithin) return kInfinity;
  if (worst_.first < Grade::kWithin) return -1;
  return index < worst_index_ ? std::nextafter(worst_.second, -1) : worst_.second;
}

// An element that is no number: any other answer fails.
void RangeJudge::JudgeNonfinite(const AnsweredPart& part, size_t i, size_t index) {
  ++verdict_.judged;
  elements_.Set(index, 1, ElementStatus::kJudged);
  if (!std::isfinite(part.got.data[i])) return;
  verdict_.grade = Grade::kFails;
  ++verdict_.failed;
  elements_.SetFailing(index, 1);
  SetIfWorst(part, i, index, {Grade::kFails, kInfinity});
}

void RangeJudge::JudgeElement(const AnsweredPart& part, size_t i, size_t index) {
  const GoldenTensor& golden = part.golden;
  const PermittedTensor& permitted = part.permitted;
  const double got = part.got.data[i], high = golden.high.data[i], low = golden.low.data[i];
  // What is only enclosed is decided (oracle/judge/undecided.h).
  const double radius = std::max(golden.radius.data[i], 0.0);
  const double bound = permitted.error.data[i] + radius;
  const bool left_out = std::isnan(radius);
  if (golden.keeps_nonfinite && !left_out && IsUnspecified(golden, i)) {
    JudgeNonfinite(part, i, index);
    return;
  }
  if (left_out || IsUnspecified(golden, i)) {
    const bool is_specified = !left_out && !std::isnan(part.end_to_end.high.data[i]);
    elements_.Set(index, 1, is_specified ? ElementStatus::kOpen : ElementStatus::kUnspecified);
    ++(left_out ? verdict_.left_out : is_specified ? verdict_.unjudgeable : verdict_.unspecified);
    return;
  }
  verdict_.enclosed += radius > 0;
  const double error = ErrorOf(golden, i, got), likely = permitted.likely.data[i] + radius;
  const bool overflows = std::isinf(bound);
  const Grade grade =
      overflows ? GradeOfUnjudgeable(error, likely) : GradeIn(part, i, error, likely);
  const bool fails = grade == Grade::kFails;
  verdict_.grade = std::max(verdict_.grade, grade);
  verdict_.failed += fails;
  if (fails) elements_.SetFailing(index, 1);
  verdict_.unlikely += grade == Grade::kUnlikely;
  const bool loose = !fails && IsLoose(radius, permitted.error.data[i]);
  verdict_.loose += loose;
  verdict_.unjudgeable += overflows && !loose;
  verdict_.vacuous += !overflows && !loose && permitted.vacuous[i] && !fails;
  const bool judged = !overflows && !loose && (!permitted.vacuous[i] || fails);
  elements_.Set(index, 1, judged ? ElementStatus::kJudged : ElementStatus::kOpen);
  verdict_.judged += judged;
  const double limit = grade == Grade::kUnlikely ? likely : bound;
  const std::pair rank(std::max(grade, Grade::kWithin), RatioOf(error, limit));
  SetIfWorst(part, i, index, rank);
  const bool has_signs = !IsIndex(golden) && !IsPower(golden.choice);
  if (bound > 0 && !overflows && !fails && has_signs)
    bias_.Add(index, got, error == 0 ? 0 : ((got - high) - low) / bound);
}

}  // namespace sextant::oracle
