#include "oracle/judge/tensor_judge.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <set>

namespace sextant::oracle {
namespace {

// Where the mean of independent errors lies with near certainty, in standard errors: beyond, the
// grade is `unlikely`. Two-sided tail of Student's t for the least number of units: 5e-9.
constexpr double kUnlikelyBias = 8;
constexpr size_t kLeastUnits = 32;

double ErrorOf(double got, double value, double high, double low) {
  if (got == value && std::isinf(got)) return 0;
  return std::abs((got - high) - low);
}

// Signed errors in units of the permitted ones. Those of a row have the error of its root in
// common, those of a column the error of its weight, and those of equal answers (all that underflow
// to 0, say) that of their rounding: rows, columns and answers are the units that may be
// independent.
class Bias {
 public:
  Bias(size_t elements, size_t width)
      : width_(width),
        rows_(elements / width),
        columns_(width),
        answers_(std::min(kMostAnswers, std::bit_ceil(4 * elements + 1))) {}
  void Add(size_t i, double got, double relative) {
    rows_[i / width_].Add(relative);
    columns_[i % width_].Add(relative);
    answers_[std::hash<double>()(std::abs(got)) % answers_.size()].Add(relative);
    all_.Add(relative);
    squares_ += relative * relative;
  }
  void Tell(bool independent, TensorVerdict& verdict) const {
    if (all_.count == 0) return;
    verdict.bias = all_.Of();
    verdict.spread = std::sqrt(squares_ / static_cast<double>(all_.count));
    if (independent) verdict.bias_in_standard_errors = StandardErrors();
  }

 private:
  struct Mean {
    double sum = 0;
    size_t count = 0;
    void Add(double x) {
      sum += x;
      ++count;
    }
    double Of() const { return sum / static_cast<double>(count); }
  };
  // Variance of the mean of units; infinite if they are too few. Equal ones (the same position
  // twice) are one unit.
  static double Variance(const std::vector<Mean>& means) {
    std::set<double> units;
    for (const Mean& mean : means) {
      if (mean.count > 0) units.insert(mean.Of());
    }
    if (units.size() < kLeastUnits) return INFINITY;
    const auto n = static_cast<double>(units.size());
    double center = 0, variance = 0;
    for (const double u : units) center += u / n;
    for (const double u : units) variance += (u - center) * (u - center) / (n - 1);
    return variance / n;
  }
  // Variance of the mean of units that count by their sizes.
  double VarianceBySize(const std::vector<Mean>& units) const {
    size_t count = 0;
    double variance = 0;
    for (const Mean& unit : units) {
      if (unit.count == 0) continue;
      ++count;
      const double deviation = (unit.sum - all_.Of() * static_cast<double>(unit.count)) /
                               static_cast<double>(all_.count);
      variance += deviation * deviation;
    }
    if (count < kLeastUnits) return INFINITY;
    return variance * static_cast<double>(count) / static_cast<double>(count - 1);
  }
  double StandardErrors() const {
    return all_.Of() / std::sqrt(Variance(rows_) + Variance(columns_) + VarianceBySize(answers_));
  }

  // Answers of the same magnitude are one unit, and with them those that share their hash: of more
  // units than this no more is known than of this many.
  static constexpr size_t kMostAnswers = size_t{1} << 16;

  size_t width_;
  std::vector<Mean> rows_, columns_, answers_;
  Mean all_;
  double squares_ = 0;
};

// `permitted` and `likely` include the radius.
Grade GradeOf(const GoldenTensor& golden, size_t i, double got, double error, double permitted,
              double likely) {
  if (!(error <= permitted)) return Grade::kFails;
  if (got == golden.value.data[i] && golden.radius.data[i] == 0) return Grade::kExact;
  if (error < UlpOf(golden.dtype, golden.high.data[i])) return Grade::kFaithful;
  return error <= likely ? Grade::kWithin : Grade::kUnlikely;
}

// Where anything is permitted, NaN and infinity too.
Grade OpenGradeOf(double error, double likely) {
  return error <= likely || std::isinf(likely) ? Grade::kExact : Grade::kUnlikely;
}

// 0 / 0 is 0.
double RatioOf(double error, double limit) {
  if (error == 0) return 0;
  return limit > 0 && !std::isnan(error) ? error / limit : INFINITY;
}

// One tensor, element by element.
class TensorJudge {
 public:
  TensorJudge(const GoldenTensor& golden, const PermittedTensor& permitted,
              const Tensor<double>& got)
      : golden_(golden),
        permitted_(permitted),
        got_(got),
        bias_(got.data.size(), got.shape.empty() ? 1 : std::max<size_t>(1, got.shape.back())) {
    verdict_.name = golden.name;
    verdict_.elements = got.data.size();
  }
  JudgedTensor Judge(bool independent, const GoldenTensor* whole) {
    for (size_t i = 0; i < got_.data.size(); ++i) Take(i, (whole ? *whole : golden_).high.data[i]);
    bias_.Tell(independent, verdict_);
    if ((verdict_.grade == Grade::kFaithful || verdict_.grade == Grade::kWithin) &&
        std::abs(verdict_.bias_in_standard_errors) > kUnlikelyBias) {
      verdict_.grade = Grade::kUnlikely;
    }
    return {std::move(verdict_), got_.shape, std::move(found_)};
  }

 private:
  // `specified` is NaN where the case specifies nothing.
  void Take(size_t i, double specified) {
    const double got = got_.data[i], high = golden_.high.data[i], low = golden_.low.data[i];
    const double radius = golden_.radius.data[i], bound = permitted_.error.data[i] + radius;
    if (std::isnan(high)) {
      const bool open = !std::isnan(specified);
      found_.push_back(open ? Judged::kOpen : Judged::kUnspecified);
      ++(open ? verdict_.unjudgeable : verdict_.unspecified);
      return;
    }
    verdict_.enclosed += radius > 0;
    const double error = ErrorOf(got, golden_.value.data[i], high, low);
    const double likely = permitted_.likely.data[i] + radius;
    const bool open = std::isinf(bound);
    const Grade grade =
        open ? OpenGradeOf(error, likely) : GradeOf(golden_, i, got, error, bound, likely);
    const bool fails = grade == Grade::kFails;
    verdict_.grade = std::max(verdict_.grade, grade);
    verdict_.failed += fails;
    verdict_.unlikely += grade == Grade::kUnlikely;
    verdict_.unjudgeable += open;
    verdict_.vacuous += !open && permitted_.vacuous[i] && !fails;
    found_.push_back(open || (permitted_.vacuous[i] && !fails) ? Judged::kOpen : Judged::kJudged);
    verdict_.judged += found_.back() == Judged::kJudged;
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
  std::vector<Judged> found_;
  Bias bias_;
  std::pair<Grade, double> worst_ = {Grade::kExact, -1};
};

// Rows along the last axis.
size_t WidthOf(const Shape& shape) { return shape.empty() ? 1 : std::max<size_t>(1, shape.back()); }

// The first row of a tensor with an open element and no judged one, and how many there are of all.
struct OpenRows {
  explicit OpenRows(const JudgedTensor& tensor) {
    const size_t width = WidthOf(tensor.shape);
    for (size_t at = 0; at < tensor.elements.size(); at += width, ++all) {
      const auto row = std::span(tensor.elements).subspan(at, width);
      if (std::ranges::find(row, Judged::kJudged) != row.end()) continue;
      if (std::ranges::find(row, Judged::kOpen) == row.end()) continue;
      if (open++ == 0) first = all;
    }
  }
  size_t all = 0, open = 0, first = 0;
};

}  // namespace

JudgedTensor JudgeTensor(const GoldenTensor& golden, const PermittedTensor& permitted,
                         const Tensor<double>& got, bool independent, const GoldenTensor* whole) {
  return TensorJudge(golden, permitted, got).Judge(independent, whole);
}

Doubt DoubtOf(const std::vector<JudgedTensor>& tensors) {
  Doubt doubt;
  bool any = false, none_judged = true;
  std::string whole;
  for (const JudgedTensor& tensor : tensors) {
    const bool judged =
        std::ranges::find(tensor.elements, Judged::kJudged) != tensor.elements.end();
    any = any || !tensor.elements.empty();
    none_judged = none_judged && !judged;
    const OpenRows rows(tensor);
    if (rows.open == 0) continue;
    doubt.rows += rows.open;
    const std::string& name = tensor.verdict.name;
    if (!judged && whole.empty()) whole = "no element of " + name + " could have failed";
    if (!doubt.message.empty() || !judged) continue;
    Shape shape = tensor.shape;
    shape.pop_back();
    doubt.message = "no element of " + std::to_string(rows.open) + " of " +
                    std::to_string(rows.all) + " rows of " + name +
                    " could have failed; the first is " + IndexText(name, shape, rows.first);
  }
  if (!whole.empty()) doubt.message = whole;
  // An empty answer could have had another shape.
  else if (any && none_judged)
    doubt.message = "no element of it could have failed";
  doubt.only_rows = !doubt.message.empty() && whole.empty() && !none_judged;
  return doubt;
}

}  // namespace sextant::oracle
