#include "oracle/judge.h"

#include <algorithm>
#include <cmath>

#include "oracle/subject.h"

namespace sextant::oracle {
namespace {

// Where the mean of independent errors lies with near certainty, in standard errors: beyond, the
// grade is `unlikely`. Two-sided tail of Student's t for the least number of rows: 5e-9.
constexpr double kUnlikelyBias = 8;
constexpr size_t kLeastRows = 32;

double ErrorOf(double got, double value, double high, double low) {
  if (got == value && std::isinf(got)) return 0;
  return std::abs((got - high) - low);
}

// Signed errors in units of the permitted ones, row by row.
class Bias {
 public:
  void Add(double relative) {
    row_sum_ += relative;
    ++row_count_;
    sum_ += relative;
    squares_ += relative * relative;
    ++count_;
  }
  void EndRow() {
    if (row_count_ > 0) means_.push_back(row_sum_ / static_cast<double>(row_count_));
    row_sum_ = 0;
    row_count_ = 0;
  }
  void Tell(bool rows_are_independent, TensorVerdict& verdict) {
    if (count_ == 0) return;
    verdict.bias = sum_ / static_cast<double>(count_);
    verdict.spread = std::sqrt(squares_ / static_cast<double>(count_));
    if (rows_are_independent) verdict.bias_in_standard_errors = StandardErrors();
  }

 private:
  // Equal rows (the same position twice) are one unit.
  double StandardErrors() {
    std::ranges::sort(means_);
    means_.erase(std::unique(means_.begin(), means_.end()), means_.end());
    if (means_.size() < kLeastRows) return 0;
    const auto n = static_cast<double>(means_.size());
    double mean = 0, variance = 0;
    for (const double m : means_) mean += m / n;
    for (const double m : means_) variance += (m - mean) * (m - mean) / (n - 1);
    return variance > 0 ? mean / std::sqrt(variance / n) : 0;
  }

  std::vector<double> means_;
  double row_sum_ = 0, sum_ = 0, squares_ = 0;
  size_t row_count_ = 0, count_ = 0;
};

Grade GradeOf(const GoldenTensor& golden, size_t i, double got, double error, double permitted) {
  if (!(error <= permitted)) return Grade::kFails;
  if (got == golden.value.data[i]) return Grade::kExact;
  return error < UlpOf(golden.dtype, golden.high.data[i]) ? Grade::kFaithful : Grade::kWithin;
}

// One tensor, element by element.
class TensorJudge {
 public:
  TensorJudge(const GoldenTensor& golden, const PermittedTensor& permitted,
              const Tensor<double>& got)
      : golden_(golden), permitted_(permitted), got_(got) {
    verdict_.name = golden.name;
    verdict_.elements = got.data.size();
  }
  TensorVerdict Judge(bool rows_are_independent) {
    const size_t width = got_.shape.empty() ? 1 : std::max<size_t>(1, got_.shape.back());
    for (size_t i = 0; i < got_.data.size(); ++i) {
      if (i % width == 0) bias_.EndRow();
      Take(i);
    }
    bias_.EndRow();
    bias_.Tell(rows_are_independent, verdict_);
    if (verdict_.grade == Grade::kWithin &&
        std::abs(verdict_.bias_in_standard_errors) > kUnlikelyBias) {
      verdict_.grade = Grade::kUnlikely;
    }
    return verdict_;
  }

 private:
  void Take(size_t i) {
    const double got = got_.data[i], high = golden_.high.data[i], low = golden_.low.data[i];
    const double bound = permitted_.error.data[i] + golden_.radius.data[i];
    if (std::isnan(high)) {
      ++verdict_.unspecified;
      return;
    }
    if (std::isinf(bound)) {
      ++verdict_.unjudgeable;
      return;
    }
    const double error = ErrorOf(got, golden_.value.data[i], high, low);
    const Grade grade = GradeOf(golden_, i, got, error, bound);
    const bool fails = grade == Grade::kFails;
    verdict_.grade = std::max(verdict_.grade, grade);
    verdict_.failed += fails;
    permitted_.vacuous[i] && !fails ? ++verdict_.vacuous : ++verdict_.judged;
    double ratio = 0;  // of what is permitted
    if (error != 0) ratio = bound > 0 && !std::isnan(error) ? error / bound : INFINITY;
    if (ratio > worst_) {
      worst_ = ratio;
      verdict_.worst = {IndexText(golden_.name, got_.shape, i), got, high, bound, error};
    }
    if (bound > 0 && !fails) bias_.Add(error == 0 ? 0 : ((got - high) - low) / bound);
  }

  const GoldenTensor& golden_;
  const PermittedTensor& permitted_;
  const Tensor<double>& got_;
  TensorVerdict verdict_;
  Bias bias_;
  double worst_ = -1;
};

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
  // The error of a frequency is common to all rows.
  const bool rows_are_independent = c.info().steps.find("frequency") == std::string_view::npos;
  size_t judged = 0, elements = 0;
  for (size_t o = 0; o < golden.size(); ++o) {
    const auto at = std::ranges::find(outputs, golden[o].name, &NamedTensor::name);
    if (at == outputs.end()) continue;  // an optional output that was left out
    verdict.tensors.push_back(
        TensorJudge(golden[o], permitted[o], at->values).Judge(rows_are_independent));
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
