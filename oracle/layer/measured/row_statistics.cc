#include "oracle/layer/measured/row_statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <ranges>

#include "oracle/layer/measured/divisor.h"
#include "oracle/layer/measured/means_and_divisors.h"
#include "oracle/layer/measured/model.h"
#include "oracle/layer/measured/norm.h"
#include "oracle/layer/measured/with_statistics.h"
#include "oracle/layer/tensor_places.h"
#include "reference/base/value_text.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

constexpr double kRoundings = 0x1p-48;  // of sums here, relative to what they give

// A row as the answer shows it.
struct MeasuredRow {
  Range mean, divisor;
  double right_mean = 0, right_divisor = 0;
  std::vector<double> distances;  // of the elements from the right answer
};

class Measuring {
 public:
  Measuring(const Observation& seen, ErrorBar bar)
      : seen_(seen),
        samples_(seen, 0, bar),
        N_(seen.inputs[kX].values.shape[0]),
        M_(seen.inputs[kX].values.shape[1]),
        right_(RightNorm(seen.c, M_, seen.inputs.size() > kBias)) {}

  std::vector<Explanation> Run() {
    constexpr size_t kLeastColumns = 6, kMostRows = 4096;
    if (!samples_.IsAnswered() || M_ < kLeastColumns || N_ == 0 || N_ > kMostRows) return {};
    for (size_t n = 0; n < N_; ++n) {
      auto row = RowOf(n);
      if (!row) return {};
      rows_.push_back(*std::move(row));
    }
    if (auto named = Named()) return {*std::move(named)};
    if (auto cancelled = Cancelled()) return {*std::move(cancelled)};
    if (auto listed = Listed()) return {*std::move(listed)};
    return {};
  }

 private:
  struct Element {
    double a, b, y, error;  // y = a / d - b m / d
  };
  // y_j - b_j = p w_j x_j - q w_j, by least squares, with the errors of p and q if each element has
  // its largest error. None if an element contradicts.
  std::optional<MeasuredRow> RowOf(size_t n) const {
    std::vector<Element> elements;
    MeasuredRow row;
    for (size_t j = 0; j < M_; ++j) {
      const size_t at = n * M_ + j;
      if (!samples_.Has(at)) return std::nullopt;
      const Sample sample = samples_.At(at);
      const double w = FactorOf(right_, In(kWeight)[j]),
                   bias = seen_.inputs.size() > kBias ? In(kBias)[j] : 0;
      elements.push_back({w * In(kX)[at], w, sample.y - bias, sample.error});
      row.distances.push_back(std::abs(sample.y - sample.right) / sample.error);
    }
    double aa = 0, ab = 0, bb = 0;
    for (const auto& [a, b, y, error] : elements) {
      const double weight = 1 / (error * error);
      aa += weight * a * a, ab += weight * a * b, bb += weight * b * b;
    }
    const double determinant = aa * bb - ab * ab;
    if (!(determinant > 0)) return std::nullopt;
    double p = 0, q = 0, p_error = 0, q_error = 0;
    for (const auto& [a, b, y, error] : elements) {
      const double weight = 1 / (error * error);
      const double of_p = (bb * a - ab * b) * weight / determinant,
                   of_q = (ab * a - aa * b) * weight / determinant;
      p += of_p * y, q += of_q * y;
      p_error += std::abs(of_p) * error, q_error += std::abs(of_q) * error;
    }
    for (const auto& [a, b, y, error] : elements) {
      const double most =
          error + kRoundings * std::abs(y) + p_error * std::abs(a) + q_error * std::abs(b);
      if (!(std::abs(y - (p * a - q * b)) <= most)) return std::nullopt;
    }
    if (!(std::abs(p) > p_error)) return std::nullopt;
    p_error += kRoundings * std::abs(p), q_error += kRoundings * std::abs(q);
    const double m = q / p, m_error = (q_error + std::abs(m) * p_error) / (std::abs(p) - p_error);
    row.mean = {m - m_error, m + m_error};
    SetRight(n, row);
    row.divisor = Quotient(1, p_error / (std::abs(p) - p_error), p);
    return row;
  }

  void SetRight(size_t n, MeasuredRow& row) const {
    row.right_mean = ValueOf(RightMean(), Row(n));
    row.right_divisor = ValueOf(RightDivisor(), Row(n));
  }
  std::vector<double> Row(size_t n) const {
    const auto first = In(kX).begin() + static_cast<std::ptrdiff_t>(n * M_);
    return {first, first + static_cast<std::ptrdiff_t>(M_)};
  }
  // The mean magnitude.
  double SizeOf(size_t n) const {
    double size = 0;
    for (const double x : Row(n)) size += std::abs(x) / static_cast<double>(M_);
    return size;
  }
  const std::vector<double>& In(size_t input) const { return seen_.inputs[input].values.data; }
  static double ValueOf(const RowNumber& number, const std::vector<double>& row) {
    return RowNumberOf<double>(number, row)();
  }
  RowNumber RightDivisor() const { return RootOfAll(right_.sums_centered, right_.eps); }
  RowNumber RightMean() const { return right_.subtracts_mean ? MeanOfAll() : RowNumber{}; }

  // The first number that all rows have.
  std::optional<RowNumber> FirstOf(std::vector<RowNumber> all, const RowNumber& right,
                                   Range MeasuredRow::*range) const {
    all.insert(all.begin(), right);
    for (const RowNumber& one : all) {
      bool fits = true;
      for (size_t n = 0; n < N_ && fits; ++n)
        fits = (rows_[n].*range).Contains(ValueOf(one, Row(n)));
      if (fits) return one;
    }
    return std::nullopt;
  }
  std::optional<Explanation> Named() const {
    const auto mean = FirstOf(PossibleMeans(), RightMean(), &MeasuredRow::mean);
    if (!mean) return std::nullopt;
    const auto divisor =
        FirstOf(PossibleDivisors(right_.eps), RightDivisor(), &MeasuredRow::divisor);
    if (!divisor) return std::nullopt;
    Deviations found;
    if (*mean != RightMean())
      found.Add("mean_of_rows",
                mean->Text() + " is subtracted from each row, expected " + RightMean().Text());
    if (*divisor != RightDivisor())
      found.Add("divisor_of_rows", "each row is divided by " + divisor->Text() + ", expected " +
                                       RightDivisor().Text());
    const auto choices = static_cast<double>(PossibleMeans().size() + 1) *
                         static_cast<double>(PossibleDivisors(right_.eps).size() + 1);
    if (found.count == 0 || !IsEvident(DistancesOfRows(), found, std::log2(choices)))
      return std::nullopt;
    return ExplanationOf(found, {*mean, *divisor, {}, {}, right_.unit_offset});
  }
  std::vector<double> DistancesOfRows() const {
    std::vector<double> distances;
    for (const MeasuredRow& row : rows_) {
      const auto off = [](const Range& range, double right) {
        return 2 * std::abs(range.Middle() - right) / (range.high - range.low);
      };
      distances.push_back(
          std::max(off(row.mean, row.right_mean), off(row.divisor, row.right_divisor)));
    }
    return distances;
  }

  // E[x^2] - mean^2 in f32 is a multiple of the ulp of the smaller one, which is mean^2 where they
  // cancel. Several multiples: honest divisors of 1 and 2 are two of them.
  std::optional<Explanation> Cancelled() const {
    constexpr size_t kFewestMultiples = 3;
    if (!right_.subtracts_mean || !right_.sums_centered) return std::nullopt;
    RowStatistics rows;
    rows.has_unit_offset = right_.unit_offset;
    std::string of_worst;  // the row with the most wrong variance
    double worst = 0;
    // How far rows are at most from each multiple, in halves of an ulp: by accident any number.
    std::map<double, double> off;
    for (size_t n = 0; n < N_; ++n) {
      const MeasuredRow& row = rows_[n];
      const double ulp = UlpOf(DType::kF32, row.right_mean * row.right_mean);
      const Range variance{row.divisor.low * row.divisor.low - right_.eps,
                           row.divisor.high * row.divisor.high - right_.eps};
      // No result of f32 shows finer multiples.
      if (ulp < 2 * UnitRoundoffOf(DType::kF32) * variance.Middle()) return std::nullopt;
      const double multiple = std::round(variance.Middle() / ulp) * ulp;
      if (!row.mean.Contains(row.right_mean) || !variance.Contains(multiple)) return std::nullopt;
      off[multiple] = std::max(off[multiple], 2 * std::abs(variance.Middle() - multiple) / ulp);
      rows.means.push_back(row.mean.Middle());  // with its roundings, which large x magnify
      rows.divisors.push_back(std::sqrt(multiple + right_.eps));
      const double right = row.right_divisor * row.right_divisor - right_.eps;
      if (row.divisor.Contains(row.right_divisor) || std::abs(multiple - right) <= worst) continue;
      worst = std::abs(multiple - right);
      of_worst = "row " + std::to_string(n) + " has " + PrintValue(multiple) + ", expected " +
                 TwoDigits(right);
    }
    Deviations found;
    found.Add("variance_cancels",
              "the variance is E[x^2] - mean^2 in f32, which cancels: it is a multiple of the ulp "
              "of mean^2 in every row; " +
                  of_worst);
    const auto distances = std::views::values(off);
    const double bits = BitsOfUniform({distances.begin(), distances.end()});
    if (of_worst.empty() || off.size() < kFewestMultiples || !IsEvident({std::exp2(bits)}, found))
      return std::nullopt;
    return ExplanationOf(found, rows);
  }

  // Numbers without a name. In bf16, the coarsest format, each of M terms of a sum may be off by
  // 2^-8 of it.
  std::optional<Explanation> Listed() const {
    const double coarse = static_cast<double>(M_) * 0x1p-8;
    RowStatistics rows;
    rows.has_unit_offset = right_.unit_offset;
    std::vector<double> rest;  // two elements of each row are fitted
    size_t others = 0, worst = 0;
    double most = 0;
    bool other_mean = false, other_divisor = false;
    for (size_t n = 0; n < N_; ++n) {
      const MeasuredRow& row = rows_[n];
      const double size = SizeOf(n);
      const double of_mean = std::abs(row.mean.Middle() - row.right_mean) / size,
                   of_divisor = std::abs(row.divisor.Middle() / row.right_divisor - 1);
      other_mean |= !row.mean.Contains(row.right_mean);
      other_divisor |= !row.divisor.Contains(row.right_divisor);
      if (std::max(of_mean, of_divisor) > coarse) ++others;
      if (std::max(of_mean, of_divisor) > most) most = std::max(of_mean, of_divisor), worst = n;
      rows.means.push_back(row.mean.Contains(row.right_mean) ? row.right_mean : row.mean.Middle());
      rows.divisors.push_back(row.divisor.Contains(row.right_divisor) ? row.right_divisor
                                                                      : row.divisor.Middle());
      std::vector<double> distances = row.distances;
      std::ranges::sort(distances);
      rest.insert(rest.end(), distances.begin(), distances.end() - 2);
    }
    if (2 * others < N_) return std::nullopt;
    Deviations found;
    const MeasuredRow& row = rows_[worst];
    const std::string at = "row " + std::to_string(worst);
    if (other_mean)
      found.Add("other_means", "another number than the mean is subtracted from rows, from " + at +
                                   " " + ConstantsIn(row.mean, {}).front().text + ", expected " +
                                   TwoDigits(row.right_mean));
    if (other_divisor)
      found.Add("other_divisors", "rows have other divisors, " + at + " " +
                                      ConstantsIn(row.divisor, {}).front().text + ", expected " +
                                      TwoDigits(row.right_divisor));
    if (!IsEvident(rest, found)) return std::nullopt;
    return ExplanationOf(found, rows);
  }

  Explanation ExplanationOf(const Deviations& found, const RowStatistics& rows) const {
    WithStatistics plain;
    WithStatisticsAndBias biased;
    plain.rows = biased.rows = rows;
    Hypothesis model =
        seen_.inputs.size() > kBias ? MeasuredModel(seen_, biased) : MeasuredModel(seen_, plain);
    model.is_across_slices = !rows.means.empty();  // rows are counted
    return {found.name, found.sentence, model};
  }

  const Observation& seen_;
  Samples samples_;
  size_t N_, M_;
  Norm right_;
  std::vector<MeasuredRow> rows_;
};

}  // namespace

std::vector<Explanation> MeasureRowStatistics(const Observation& seen) {
  for (const ErrorBar bar : {ErrorBar::kLikely, ErrorBar::kPermitted, ErrorBar::kTwicePermitted})
    if (auto found = Measuring(seen, bar).Run(); !found.empty()) return found;
  return {};
}

}  // namespace sextant::oracle
