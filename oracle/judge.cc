#include "oracle/judge.h"

#include <algorithm>
#include <cmath>

#include "oracle/subject.h"

namespace sextant::oracle {
namespace {

// Where the mean of independent errors lies with near certainty, in standard errors: beyond, the
// grade is `unlikely`. Two-sided normal tail 2e-15.
constexpr double kUnlikelyBias = 8;
constexpr size_t kLeastRows = 32;  // below, a standard error means nothing

double ErrorOf(double got, double value, double high, double low) {
  if (got == value && std::isinf(got)) return 0;
  return std::abs((got - high) - low);
}

// Means of the rows' signed relative errors.
struct Rows {
  std::vector<double> means;
  double sum = 0;
  size_t count = 0;

  void Add(double relative) {
    sum += relative;
    ++count;
  }
  void EndRow() {
    if (count > 0) means.push_back(sum / static_cast<double>(count));
    sum = 0;
    count = 0;
  }
};

double StandardErrors(const std::vector<double>& means) {
  const auto n = static_cast<double>(means.size());
  if (means.size() < kLeastRows) return 0;
  double mean = 0, variance = 0;
  for (const double m : means) mean += m / n;
  for (const double m : means) variance += (m - mean) * (m - mean) / (n - 1);
  return variance > 0 ? mean / std::sqrt(variance / n) : 0;
}

Grade GradeOf(const GoldenTensor& golden, size_t i, double got, double error, double permitted) {
  if (!(error <= permitted)) return Grade::kFails;
  if (got == golden.value.data[i]) return Grade::kExact;
  return error < UlpOf(golden.dtype, golden.high.data[i]) ? Grade::kFaithful : Grade::kWithin;
}

TensorVerdict JudgeTensor(const GoldenTensor& golden, const PermittedTensor& permitted,
                          const Tensor<double>& got) {
  TensorVerdict verdict{.name = golden.name, .elements = got.data.size(), .worst = {}};
  const size_t width = got.shape.empty() ? 1 : std::max<size_t>(1, got.shape.back());
  double worst = -1, sum = 0, squares = 0;
  size_t with_room = 0;
  Rows rows;
  for (size_t i = 0; i < got.data.size(); ++i) {
    if (i % width == 0) rows.EndRow();
    const double bound = permitted.error.data[i] + golden.radius.data[i];
    if (std::isnan(golden.high.data[i])) {
      ++verdict.unspecified;
      continue;
    }
    if (std::isinf(bound)) {
      ++verdict.unjudgeable;
      continue;
    }
    const double error =
        ErrorOf(got.data[i], golden.value.data[i], golden.high.data[i], golden.low.data[i]);
    const Grade grade = GradeOf(golden, i, got.data[i], error, bound);
    verdict.grade = std::max(verdict.grade, grade);
    verdict.failed += grade == Grade::kFails;
    permitted.vacuous[i] && grade != Grade::kFails ? ++verdict.vacuous : ++verdict.judged;
    const double ratio = error == 0                        ? 0
                         : bound > 0 && !std::isnan(error) ? error / bound
                                                           : INFINITY;
    if (ratio > worst) {
      worst = ratio;
      verdict.worst = {IndexText(golden.name, got.shape, i), got.data[i], golden.high.data[i],
                       bound, error};
    }
    if (!(bound > 0) || !(ratio <= 1)) continue;
    const double relative = ((got.data[i] - golden.high.data[i]) - golden.low.data[i]) / bound;
    rows.Add(relative);
    sum += relative;
    squares += relative * relative;
    ++with_room;
  }
  rows.EndRow();
  if (with_room > 0) {
    verdict.bias = sum / static_cast<double>(with_room);
    verdict.spread = std::sqrt(squares / static_cast<double>(with_room));
    verdict.bias_in_standard_errors = StandardErrors(rows.means);
  }
  if (verdict.grade == Grade::kWithin &&
      std::abs(verdict.bias_in_standard_errors) > kUnlikelyBias) {
    verdict.grade = Grade::kUnlikely;
  }
  return verdict;
}

}  // namespace

Verdict Judge(const Case& c, const std::vector<GoldenTensor>& golden,
              const std::vector<PermittedTensor>& permitted, const Tensors& outputs) {
  Verdict verdict{
      .case_line = c.ToString(), .message = Misfit(c, outputs), .tensors = {}, .causes = {}};
  if (!verdict.message.empty()) {
    verdict.status = Verdict::Status::kFails;
    verdict.grade = Grade::kFails;
    return verdict;
  }
  size_t judged = 0, elements = 0;
  for (size_t o = 0; o < golden.size(); ++o) {
    const auto at = std::ranges::find(outputs, golden[o].name, &NamedTensor::name);
    if (at == outputs.end()) continue;  // an optional output that was left out
    verdict.tensors.push_back(JudgeTensor(golden[o], permitted[o], at->values));
    verdict.grade = std::max(verdict.grade, verdict.tensors.back().grade);
    judged += verdict.tensors.back().judged;
    elements += verdict.tensors.back().elements;
  }
  if (verdict.grade == Grade::kFails) {
    verdict.status = Verdict::Status::kFails;
  } else if (judged == 0 && elements > 0) {  // an empty answer could have had another shape
    verdict.status = Verdict::Status::kUnverified;
    verdict.message = "no element of it could have failed";
  }
  return verdict;
}

}  // namespace sextant::oracle
