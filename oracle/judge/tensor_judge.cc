#include "oracle/judge/tensor_judge.h"

#include <algorithm>
#include <cmath>

#include "oracle/judge/failing_indices.h"
#include "oracle/judge/is_within.h"
#include "oracle/judge/range_judge.h"
#include "reference/base/parallel.h"

namespace sextant::oracle {
namespace {

struct HowToJudge {
  bool independent;
  double bias_bound;
  int threads;
};

// Judges at most kMostRanges ranges on all cores. The ranges depend on the number of elements only,
// and are merged in order: so does the result, whatever the number of threads. Elements of a
// vector<bool> share words of 64, which no two ranges have in common.
TensorVerdict JudgeElements(const AnsweredPart& answered, const HowToJudge& by,
                            OfElements& elements) {
  constexpr size_t kMostRanges = 16, kLeastRange = size_t{1} << 15, kWord = 64;
  const size_t count = answered.got.data.size();
  const size_t size =
      std::max(kLeastRange, ((count + kMostRanges - 1) / kMostRanges + kWord - 1) / kWord * kWord);
  std::vector<RangeJudge> ranges;
  for (size_t first = 0; first < std::max<size_t>(count, 1); first += size)
    ranges.emplace_back(answered.got.shape, by.independent, elements);
  InParallel(ranges.size(), by.threads, [&](size_t i) {
    AnsweredPart range = answered;
    range.begin = i * size;
    ranges[i].Judge(range, i * size, std::min(count, (i + 1) * size));
  });
  for (size_t i = 1; i < ranges.size(); ++i) ranges[0].Merge(ranges[i]);
  return ranges[0].Total(answered.golden.name, by.bias_bound);
}

// The rows of a tensor: all, the open ones (with an open element and no judged one), the first of
// them, and what there is in any row.
struct Rows {
  explicit Rows(const JudgedTensor& tensor) {
    for (const RowStatus& row : tensor.rows) Add(row);
    const size_t width = RowWidth(tensor.shape);
    for (size_t at = 0; at < tensor.elements.size(); at += width) {
      RowStatus row;
      for (const ElementStatus status : std::span(tensor.elements).subspan(at, width))
        row.Add(status);
      Add(row);
    }
  }
  size_t all = 0, open = 0, first_open = 0;
  RowStatus any;

 private:
  void Add(const RowStatus& row) {
    if (row.has_open && !row.has_judged && open++ == 0) first_open = all;
    any.has_judged |= row.has_judged;
    any.has_open |= row.has_open;
    ++all;
  }
};

// Whether `got` is the value of element i: where every bit is specified, 0 and -0 differ, and a NaN
// may be expected.
bool IsValue(const GoldenTensor& golden, size_t i, double got) {
  const double value = golden.value.data[i];
  if (IsIndex(golden)) return ErrorOf(golden, i, got) == 0;
  if (!golden.bitwise) return got == value;
  return SameNumber(got, value) && (std::isnan(got) || std::signbit(got) == std::signbit(value));
}

}  // namespace

Grade GradeOf(const GoldenTensor& golden, size_t i, double got, bool is_within, double error,
              double likely) {
  if (!is_within) return Grade::kFails;
  if (IsValue(golden, i, got) && golden.radius.data[i] <= 0) return Grade::kExact;
  const bool has_ulps = !IsIndex(golden);
  if (has_ulps && error < UlpOf(golden.dtype, golden.high.data[i])) return Grade::kFaithful;
  return error <= likely ? Grade::kWithin : Grade::kUnlikely;
}

bool IsPermitted(const GoldenTensor& golden, size_t i, double got, double permitted) {
  if (golden.bitwise) return IsValue(golden, i, got);
  if (std::isinf(got) && got == golden.value.data[i]) return true;
  const double radius = std::max(golden.radius.data[i], 0.0);
  return IsWithin(got, golden.high.data[i], golden.low.data[i], permitted, radius);
}

bool IsPermitted(const GoldenTensor& golden, const PermittedTensor& permitted, size_t i,
                 double got) {
  if (!HasCodes(permitted)) return IsPermitted(golden, i, got, permitted.error.data[i]);
  const auto [least, most] = AdmissibleOf(golden, permitted, i);
  const bool is_choice = !IsPower(golden.choice) || Chosen(golden.choice, golden.dtype, got) == got;
  return least <= got && got <= most && is_choice;
}

// The sums are rounded outwards: |high - bound| and |high + bound| are at most 2 |high| + bound,
// and each of the operations errs by at most half an ulp of that. No implementation exceeds the
// largest number of the type: it limits quotients before it rounds them.
std::pair<double, double> AdmissibleOf(const GoldenTensor& golden, const PermittedTensor& permitted,
                                       size_t i) {
  const double value = golden.value.data[i];
  const double bound = permitted.before_rounding[i] + std::max(golden.radius.data[i], 0.0);
  if (bound == 0) return {value, value};  // every implementation rounds this number
  const double high = golden.high.data[i], low = golden.low.data[i];
  const double slack = (2 * std::abs(high) + bound) * 0x1p-51;
  const double least = Lowest(golden.dtype), most = MaxFinite(golden.dtype);
  return {Chosen(golden.choice, golden.dtype, std::max(high - bound + low - slack, least)),
          Chosen(golden.choice, golden.dtype, std::min(high + bound + low + slack, most))};
}

double ErrorOf(const GoldenTensor& golden, size_t i, double got) {
  const bool has_value = golden.bitwise || !std::isnan(golden.high.data[i]);
  if (!std::isfinite(got) && has_value && SameNumber(got, golden.value.data[i])) return 0;
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
    OfElements elements(at->values.shape, OfElements::Keep::kElements);
    const AnsweredPart answered{golden, reference.permitted[o], at->values, end_to_end};
    TensorVerdict verdict =
        JudgeElements(answered, {independent, bias_bound, reference.threads}, elements);
    if (verdict.failed > 0)
      verdict.failing = FailingIndicesOf({c, spec, reference.inputs}, elements.fails());
    tensors.push_back(
        {std::move(verdict), spec.optional, at->values.shape, elements.TakeStatuses()});
  }
  return tensors;
}

UnverifiedReason UnverifiedReasonOf(const std::vector<JudgedTensor>& tensors) {
  UnverifiedReason reason;
  bool any = false, specified = false, none_judged = true;
  bool required = true;      // each required tensor has an element that could have failed
  std::string whole_tensor;  // message about a tensor of which no element is judged
  for (const JudgedTensor& tensor : tensors) {
    const Rows rows(tensor);
    const bool judged = rows.any.has_judged;
    any = any || rows.all > 0;
    specified = specified || judged || rows.any.has_open;
    none_judged = none_judged && !judged;
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
                     " could have failed; the first is " + IndexText(name, shape, rows.first_open);
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
