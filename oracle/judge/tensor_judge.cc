#include "oracle/judge/tensor_judge.h"

#include <algorithm>
#include <cmath>

#include "oracle/judge/bias.h"
#include "oracle/judge/failing_indices.h"
#include "oracle/judge/is_within.h"
#include "oracle/judge/ordinary_elements.h"
#include "reference/base/parallel.h"

namespace sextant::oracle {
namespace {

// The grade of an element whose permitted error is infinite: never kFails.
Grade OpenGradeOf(double error, double likely) {
  return error <= likely || std::isinf(likely) ? Grade::kExact : Grade::kUnlikely;
}

// error / limit, where 0 / 0 is 0.
double RatioOf(double error, double limit) {
  if (error == 0) return 0;
  return limit > 0 && !std::isnan(error) ? error / limit : INFINITY;
}

// A tensor to judge.
struct Answered {
  const GoldenTensor& golden;
  const PermittedTensor& permitted;
  const Tensor<double>& got;
  const GoldenTensor& end_to_end;  // is NaN where the case specifies no value
  bool independent;                // false: the standard error of the bias is not needed
};

// What is known of single elements.
struct OfElements {
  explicit OfElements(size_t count) : statuses(count), fails(count) {}
  std::vector<ElementStatus> statuses;
  std::vector<bool> fails;
};

// Judges a range of the elements of one tensor.
class RangeJudge {
 public:
  RangeJudge(const Answered& answered, OfElements& elements)
      : golden_(answered.golden),
        permitted_(answered.permitted),
        got_(answered.got),
        end_to_end_(answered.end_to_end),
        elements_(elements),
        bias_(got_.data.size(), RowWidth(got_.shape), answered.independent) {}

  void Judge(size_t first, size_t last) {
    constexpr size_t kBlock = 512;  // one vacuous element makes it slow
    for (size_t at = first; at < last; at += kBlock)
      JudgeBlock<kBlock>(at, std::min(kBlock, last - at));
  }

  // Adds the result for the range that follows.
  void Merge(const RangeJudge& next) {
    constexpr size_t TensorVerdict::*kCounts[] = {
        &TensorVerdict::judged,      &TensorVerdict::failed,      &TensorVerdict::vacuous,
        &TensorVerdict::unspecified, &TensorVerdict::unjudgeable, &TensorVerdict::unlikely,
        &TensorVerdict::enclosed,    &TensorVerdict::left_out};
    for (const auto count : kCounts) verdict_.*count += next.verdict_.*count;
    verdict_.grade = std::max(verdict_.grade, next.verdict_.grade);
    if (next.worst_ > worst_) {
      worst_ = next.worst_;
      verdict_.worst = next.verdict_.worst;
    }
    bias_.Merge(next.bias_);
  }

  TensorVerdict Total(bool independent, double correct_bias_bound) {
    verdict_.name = golden_.name;
    verdict_.elements = got_.data.size();
    verdict_.bias = bias_.Mean();
    verdict_.spread = bias_.Spread();
    verdict_.correct_bias_bound = correct_bias_bound;
    if (independent) {
      verdict_.bias_in_standard_errors = bias_.StandardErrors();
      const bool within = verdict_.grade == Grade::kFaithful || verdict_.grade == Grade::kWithin;
      if (within && bias_.IsBeyond(correct_bias_bound)) verdict_.grade = Grade::kUnlikely;
    }
    return std::move(verdict_);
  }

 private:
  Grade GradeIn(size_t i, double error, double likely) const {
    const double got = got_.data[i];
    const bool is_within = IsPermitted(golden_, i, got, permitted_.error.data[i]);
    return GradeOf(golden_, i, got, is_within, error, likely);
  }
  template <size_t kBlock>
  void JudgeBlock(size_t first, size_t count) {
    double relative[kBlock];
    char left[kBlock];
    const OrdinaryVerdict ordinary =
        JudgeOrdinary({golden_, permitted_, got_, first, count}, WorstWithin(), relative, left);
    verdict_.judged += ordinary.judged;
    verdict_.grade = std::max(verdict_.grade, !ordinary.faithful ? Grade::kWithin
                                              : !ordinary.exact  ? Grade::kFaithful
                                                                 : Grade::kExact);
    std::fill_n(&elements_.statuses[first], count, ElementStatus::kJudged);
    for (size_t k = 0; k < count;) {
      const size_t i = first + k;
      if (left[k]) {
        JudgeElement(i, end_to_end_.high.data[i]);
        ++k;
        continue;
      }
      const size_t next = static_cast<size_t>(std::find(left + k, left + count, 1) - left);
      bias_.Add(i, {&got_.data[i], next - k}, {relative + k, next - k});
      k = next;
    }
  }
  // Elements that conform and are not unlikely are not the worst up to this error / permitted
  // error.
  double WorstWithin() const {
    return worst_.first > Grade::kWithin   ? kInfinity
           : worst_.first < Grade::kWithin ? -1
                                           : worst_.second;
  }
  // `specified` is NaN if the case specifies no value for element i.
  void JudgeElement(size_t i, double specified) {
    const double got = got_.data[i], high = golden_.high.data[i], low = golden_.low.data[i];
    // What is only enclosed is decided (oracle/judge/undecided.h).
    const double radius = std::max(golden_.radius.data[i], 0.0);
    const double bound = permitted_.error.data[i] + radius;
    ElementStatus& status = elements_.statuses[i];
    if (std::isnan(radius)) {
      status = ElementStatus::kUnspecified;
      ++verdict_.left_out;
      return;
    }
    if (std::isnan(high)) {
      const bool open = !std::isnan(specified);
      status = open ? ElementStatus::kOpen : ElementStatus::kUnspecified;
      ++(open ? verdict_.unjudgeable : verdict_.unspecified);
      return;
    }
    verdict_.enclosed += radius > 0;
    const double error = ErrorOf(golden_, i, got), likely = permitted_.likely.data[i] + radius;
    const bool open = std::isinf(bound);
    const Grade grade = open ? OpenGradeOf(error, likely) : GradeIn(i, error, likely);
    const bool fails = grade == Grade::kFails;
    verdict_.grade = std::max(verdict_.grade, grade);
    verdict_.failed += fails;
    if (fails) elements_.fails[i] = true;
    verdict_.unlikely += grade == Grade::kUnlikely;
    verdict_.unjudgeable += open;
    verdict_.vacuous += !open && permitted_.vacuous[i] && !fails;
    const bool judged = !open && (!permitted_.vacuous[i] || fails);
    status = judged ? ElementStatus::kJudged : ElementStatus::kOpen;
    verdict_.judged += judged;
    const double limit = grade == Grade::kUnlikely ? likely : bound;
    const std::pair rank(std::max(grade, Grade::kWithin), RatioOf(error, limit));
    if (rank > worst_) {
      worst_ = rank;
      verdict_.worst = {IndexText(golden_.name, got_.shape, i), got, high, bound, error, likely};
    }
    if (bound > 0 && !open && !fails)
      bias_.Add(i, got, error == 0 ? 0 : ((got - high) - low) / bound);
  }

  const GoldenTensor& golden_;
  const PermittedTensor& permitted_;
  const Tensor<double>& got_;
  const GoldenTensor& end_to_end_;
  OfElements& elements_;
  TensorVerdict verdict_{};
  Bias bias_;
  std::pair<Grade, double> worst_ = {Grade::kExact, -1};
};

// Judges at most kMostRanges ranges on all cores. The ranges depend on the number of elements only,
// and are merged in order: so does the result, whatever the number of threads. Elements of a
// vector<bool> share words of 64, which no two ranges have in common.
TensorVerdict JudgeElements(const Answered& answered, const Reference& reference, double bias_bound,
                            OfElements& elements) {
  constexpr size_t kMostRanges = 16, kLeastRange = size_t{1} << 15, kWord = 64;
  const size_t count = answered.got.data.size();
  const size_t size =
      std::max(kLeastRange, ((count + kMostRanges - 1) / kMostRanges + kWord - 1) / kWord * kWord);
  std::vector<RangeJudge> ranges;
  for (size_t first = 0; first < std::max<size_t>(count, 1); first += size)
    ranges.emplace_back(answered, elements);
  InParallel(ranges.size(), reference.threads,
             [&](size_t i) { ranges[i].Judge(i * size, std::min(count, (i + 1) * size)); });
  for (size_t i = 1; i < ranges.size(); ++i) ranges[0].Merge(ranges[i]);
  return ranges[0].Total(answered.independent, bias_bound);
}

// The open rows of a tensor (an open element and no judged one): their number and the first.
struct OpenRows {
  explicit OpenRows(const JudgedTensor& tensor) {
    const size_t width = RowWidth(tensor.shape);
    for (size_t at = 0; at < tensor.elements.size(); at += width, ++all) {
      const auto row = std::span(tensor.elements).subspan(at, width);
      if (std::ranges::find(row, ElementStatus::kJudged) != row.end()) continue;
      if (std::ranges::find(row, ElementStatus::kOpen) == row.end()) continue;
      if (open++ == 0) first = all;
    }
  }
  size_t all = 0, open = 0, first = 0;
};

}  // namespace

Grade GradeOf(const GoldenTensor& golden, size_t i, double got, bool is_within, double error,
              double likely) {
  if (!is_within) return Grade::kFails;
  if (got == golden.value.data[i] && golden.radius.data[i] <= 0) return Grade::kExact;
  if (error < UlpOf(golden.dtype, golden.high.data[i])) return Grade::kFaithful;
  return error <= likely ? Grade::kWithin : Grade::kUnlikely;
}

bool IsPermitted(const GoldenTensor& golden, size_t i, double got, double permitted) {
  if (std::isinf(got) && got == golden.value.data[i]) return true;
  const double radius = std::max(golden.radius.data[i], 0.0);
  return IsWithin(got, golden.high.data[i], golden.low.data[i], permitted, radius);
}

double ErrorOf(const GoldenTensor& golden, size_t i, double got) {
  if (got == golden.value.data[i] && std::isinf(got)) return 0;
  return std::abs((got - golden.high.data[i]) - golden.low.data[i]);
}

std::vector<JudgedTensor> JudgeTensors(const Case& c, const Reference& reference,
                                       const Tensors& outputs) {
  // All frequencies may depend on one rounded power, and then all elements share its error.
  const bool independent = !c.info().Marks(Step::kFrequency);
  std::vector<JudgedTensor> tensors;
  for (size_t o = 0; o < reference.golden.size(); ++o) {
    const GoldenTensor& golden = reference.golden[o];
    const TensorSpec& spec = c.info().signature.outputs[o];
    const auto at = std::ranges::find(outputs, golden.name, &NamedTensor::name);
    if (at == outputs.end()) continue;  // an optional output that was left out
    const GoldenTensor& end_to_end = reference.end_to_end ? (*reference.end_to_end)[o] : golden;
    const double bias_bound =
        reference.correct_bias_bound.empty() ? 0 : reference.correct_bias_bound[o];
    OfElements elements(at->values.data.size());
    const Answered answered{golden, reference.permitted[o], at->values, end_to_end, independent};
    TensorVerdict verdict = JudgeElements(answered, reference, bias_bound, elements);
    if (verdict.failed > 0)
      verdict.failing = FailingIndicesOf({c, spec, reference.inputs}, elements.fails);
    tensors.push_back(
        {std::move(verdict), spec.optional, at->values.shape, std::move(elements.statuses)});
  }
  return tensors;
}

UnverifiedReason UnverifiedReasonOf(const std::vector<JudgedTensor>& tensors) {
  UnverifiedReason reason;
  bool any = false, specified = false, none_judged = true;
  bool required = true;      // each required tensor has an element that could have failed
  std::string whole_tensor;  // message about a tensor of which no element is judged
  for (const JudgedTensor& tensor : tensors) {
    const bool judged =
        std::ranges::find(tensor.elements, ElementStatus::kJudged) != tensor.elements.end();
    any = any || !tensor.elements.empty();
    specified = specified || std::ranges::any_of(tensor.elements, [](ElementStatus status) {
                  return status != ElementStatus::kUnspecified;
                });
    none_judged = none_judged && !judged;
    const OpenRows rows(tensor);
    if (rows.open == 0) continue;
    reason.open_row_count += rows.open;
    const std::string& name = tensor.verdict.name;
    required = required && (judged || tensor.optional);
    if (!judged && whole_tensor.empty())
      whole_tensor = "no element of " + name + " could have failed";
    if (!reason.message.empty() || !judged) continue;
    Shape shape = tensor.shape;
    shape.pop_back();
    reason.message = "no element of " + std::to_string(rows.open) + " of " +
                     std::to_string(rows.all) + " rows of " + name +
                     " could have failed; the first is " + IndexText(name, shape, rows.first);
  }
  if (!whole_tensor.empty()) reason.message = whole_tensor;
  // An answer without elements is verified: it could have had a wrong shape.
  else if (any && none_judged)
    reason.message = specified ? "no element of the answer could have failed"
                               : "the case specifies no element of the answer, for example because "
                                 "every element depends on a NaN or an infinity in the inputs";
  reason.open_rows_acceptable = !reason.message.empty() && required && !none_judged;
  return reason;
}

}  // namespace sextant::oracle
