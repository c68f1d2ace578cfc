#include "oracle/judge/tensor_judge.h"

#include <algorithm>
#include <cmath>

#include "oracle/judge/bias.h"
#include "oracle/judge/failing_indices.h"
#include "oracle/judge/is_within.h"

namespace sextant::oracle {
namespace {

// `likely` includes the radius, `permitted` does not.
Grade GradeOf(const GoldenTensor& golden, size_t i, double got, double permitted, double likely) {
  const double error = ErrorOf(golden, i, got);
  const bool equal = error == 0 && std::isinf(got);  // equal infinities
  if (!equal &&
      !IsWithin(got, golden.high.data[i], golden.low.data[i], permitted, golden.radius.data[i]))
    return Grade::kFails;
  if (got == golden.value.data[i] && golden.radius.data[i] == 0) return Grade::kExact;
  if (error < UlpOf(golden.dtype, golden.high.data[i])) return Grade::kFaithful;
  return error <= likely ? Grade::kWithin : Grade::kUnlikely;
}

// The grade of an element whose permitted error is infinite: never kFails.
Grade OpenGradeOf(double error, double likely) {
  return error <= likely || std::isinf(likely) ? Grade::kExact : Grade::kUnlikely;
}

// error / limit, where 0 / 0 is 0.
double RatioOf(double error, double limit) {
  if (error == 0) return 0;
  return limit > 0 && !std::isnan(error) ? error / limit : INFINITY;
}

// Judges one tensor.
class TensorJudge {
 public:
  TensorJudge(const GoldenTensor& golden, const PermittedTensor& permitted,
              const Tensor<double>& got)
      : golden_(golden),
        permitted_(permitted),
        got_(got),
        fails_(got.data.size()),
        bias_(got.data.size(), RowWidth(got.shape)) {
    verdict_.name = golden.name;
    verdict_.elements = got.data.size();
  }
  JudgedTensor Judge(bool independent, double correct_bias_bound, const GoldenTensor& end_to_end) {
    for (size_t i = 0; i < got_.data.size(); ++i) JudgeElement(i, end_to_end.high.data[i]);
    verdict_.bias = bias_.Mean();
    verdict_.spread = bias_.Spread();
    verdict_.correct_bias_bound = correct_bias_bound;
    if (independent) {
      verdict_.bias_in_standard_errors = bias_.StandardErrors();
      const bool within = verdict_.grade == Grade::kFaithful || verdict_.grade == Grade::kWithin;
      if (within && bias_.IsBeyond(correct_bias_bound)) verdict_.grade = Grade::kUnlikely;
    }
    return {std::move(verdict_), false, got_.shape, std::move(statuses_)};
  }
  const std::vector<bool>& fails() const { return fails_; }

 private:
  // `specified` is NaN if the case specifies no value for element i.
  void JudgeElement(size_t i, double specified) {
    const double got = got_.data[i], high = golden_.high.data[i], low = golden_.low.data[i];
    const double radius = golden_.radius.data[i], bound = permitted_.error.data[i] + radius;
    if (std::isnan(radius)) {
      statuses_.push_back(ElementStatus::kUnspecified);
      ++verdict_.left_out;
      return;
    }
    if (std::isnan(high)) {
      const bool open = !std::isnan(specified);
      statuses_.push_back(open ? ElementStatus::kOpen : ElementStatus::kUnspecified);
      ++(open ? verdict_.unjudgeable : verdict_.unspecified);
      return;
    }
    verdict_.enclosed += radius > 0;
    const double error = ErrorOf(golden_, i, got);
    const double likely = permitted_.likely.data[i] + radius;
    const bool open = std::isinf(bound);
    const Grade grade = open ? OpenGradeOf(error, likely)
                             : GradeOf(golden_, i, got, permitted_.error.data[i], likely);
    const bool fails = grade == Grade::kFails;
    verdict_.grade = std::max(verdict_.grade, grade);
    verdict_.failed += fails;
    fails_[i] = fails;
    verdict_.unlikely += grade == Grade::kUnlikely;
    verdict_.unjudgeable += open;
    verdict_.vacuous += !open && permitted_.vacuous[i] && !fails;
    const bool judged = !open && (!permitted_.vacuous[i] || fails);
    statuses_.push_back(judged ? ElementStatus::kJudged : ElementStatus::kOpen);
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
  TensorVerdict verdict_;
  std::vector<ElementStatus> statuses_;
  std::vector<bool> fails_;
  Bias bias_;
  std::pair<Grade, double> worst_ = {Grade::kExact, -1};
};

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
    TensorJudge judge(golden, reference.permitted[o], at->values);
    tensors.push_back(judge.Judge(
        independent, reference.correct_bias_bound.empty() ? 0 : reference.correct_bias_bound[o],
        reference.end_to_end ? (*reference.end_to_end)[o] : golden));
    if (tensors.back().verdict.failed > 0)
      tensors.back().verdict.failing = FailingIndicesOf({c, spec, reference.inputs}, judge.fails());
    tensors.back().optional = spec.optional;
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
