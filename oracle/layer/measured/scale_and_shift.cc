#include "oracle/layer/measured/scale_and_shift.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "oracle/layer/measured/constant.h"
#include "oracle/layer/measured/model.h"
#include "oracle/layer/measured/norm.h"
#include "oracle/layer/tensor_places.h"
#include "reference/base/value_text.h"
#include "reference/layer/layer_norm.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

// y = (scale x + shift) weight + bias in a row.
struct ScaleAndShift {
  double scale = 0, shift = 0;
};

struct MeasuredRows : LayerNorm {
  std::vector<ScaleAndShift> of_rows;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, const Tensor<Real>& bias,
                  Tensor<Real>& y) const {
    for (size_t n = 0; n < x.shape[0]; ++n) {
      for (size_t j = 0; j < x.shape[1]; ++j) {
        Real value;
        {
          const ScopedStep at(Step::kScale);
          value = x(n, j) * Real(of_rows[n].scale) + Real(of_rows[n].shift);
        }
        {
          const ScopedStep at(Step::kWeigh);
          value = value * weight(j);
        }
        const ScopedStep at(Step::kBias);
        y(n, j) = value + bias(j);
      }
    }
  }
};

// The right numbers of a row.
struct Moments {
  double mean, sigma;
  ScaleAndShift Numbers() const { return {1 / sigma, -mean / sigma}; }
};

class NumberedRows {
 public:
  explicit NumberedRows(const Observation& seen)
      : seen_(seen),
        samples_(seen, 0, ErrorBar::kPermitted),
        N_(seen.inputs[kX].values.shape[0]),
        M_(seen.inputs[kX].values.shape[1]),
        eps_(RightNorm(seen.c, M_, true).eps) {}

  size_t count() const { return N_; }
  size_t width() const { return M_; }
  bool IsAnswered() const { return samples_.IsAnswered() && N_ > 0 && M_ > 0; }
  bool Has(size_t n, size_t j) const { return samples_.Has(n * M_ + j); }
  Sample At(size_t n, size_t j) const { return samples_.At(n * M_ + j); }
  double X(size_t n, size_t j) const { return seen_.inputs[kX].values.data[n * M_ + j]; }
  double Weight(size_t j) const { return seen_.inputs[kWeight].values.data[j]; }
  double Bias(size_t j) const { return seen_.inputs[kBias].values.data[j]; }

  Moments MomentsOf(size_t n) const {
    long double sum = 0, squares = 0;
    for (size_t j = 0; j < M_; ++j) sum += X(n, j);
    const long double mean = sum / static_cast<long double>(M_);
    for (size_t j = 0; j < M_; ++j) squares += (X(n, j) - mean) * (X(n, j) - mean);
    return {static_cast<double>(mean),
            static_cast<double>(std::sqrt(squares / static_cast<long double>(M_) + eps_))};
  }

  // The shifts with which element j is y, if the rest is computed in f32 and rounded once.
  Range ShiftOf(size_t n, size_t j, double scale) const {
    if (!Has(n, j)) return {};
    const double y = At(n, j).y, w = Weight(j), product = scale * X(n, j);
    constexpr double kInF32 = 4 * 0x1p-24;
    const double error = UlpOf(seen_.c.dtype(), y) / 2 +
                         kInF32 * (std::abs(y) + std::abs(Bias(j)) + std::abs(product * w));
    if (w == 0) return std::abs(y - Bias(j)) <= error ? Range{} : Range{1, 0};
    const Range sum = Quotient(y - Bias(j), error, w);
    return {sum.low - product, sum.high - product};
  }
  Range ShiftOf(size_t n, double scale) const {
    Range all;
    for (size_t j = 0; j < M_ && !all.IsEmpty(); ++j) all.Intersect(ShiftOf(n, j, scale));
    return all;
  }

 private:
  const Observation& seen_;
  const Samples samples_;
  const size_t N_, M_;
  const double eps_;
};

// The number of the format in the range that is nearest to its middle.
std::optional<double> DoubleIn(const Range& range, DType format) {
  if (range.IsEmpty() || !range.IsBounded()) return std::nullopt;
  const double number = RoundTo(format, range.Middle());
  return range.Contains(number) ? std::optional(number) : std::nullopt;
}

// Numbers of the format that give a row, those nearest to the right scale.
constexpr int kMostUlps = 16;  // of the scale: it is rounded at most a few times
std::optional<ScaleAndShift> NumbersOf(const NumberedRows& rows, size_t n, DType format) {
  const double right = RoundTo(format, rows.MomentsOf(n).Numbers().scale);
  const double ulp = UlpOf(format, right);
  for (int step = 0; step <= 2 * kMostUlps; ++step) {
    const double scale = right + (step % 2 == 0 ? step / 2 : -(step + 1) / 2) * ulp;
    if (const auto shift = DoubleIn(rows.ShiftOf(n, scale), format))
      return ScaleAndShift{scale, *shift};
  }
  return std::nullopt;
}

// How surprising it is that numbers of the format give the row, in bits: few scales and shifts do.
double BitsOf(const NumberedRows& rows, size_t n, const ScaleAndShift& found, DType format) {
  constexpr int kHalvings = 16;
  const double ulp = UlpOf(format, found.scale);
  double possible = 0;  // scales, in ulps
  for (const int side : {-1, 1}) {
    Range border{0, 0.5};
    for (int i = 0; i < kHalvings; ++i) {
      const bool gives_row = !rows.ShiftOf(n, found.scale + side * border.Middle() * ulp).IsEmpty();
      (gives_row ? border.low : border.high) = border.Middle();
    }
    possible += border.high;
  }
  const Range shift = rows.ShiftOf(n, found.scale);
  const double width = (shift.high - shift.low) / UlpOf(format, found.shift);
  return -std::log2(possible) - std::log2(std::min(1.0, width));
}

std::string RowText(size_t n, const ScaleAndShift& found, const ScaleAndShift& right) {
  return "row " + std::to_string(n) + " is scaled by " + PrintValue(found.scale) +
         " and shifted by " + PrintValue(found.shift) + ", expected " +
         TextWithDigits(right.scale, 6) + " and " + TextWithDigits(right.shift, 6);
}

// Both numbers of each row are of a format of 16 bits.
std::optional<Explanation> NumbersIn(const Observation& seen, const NumberedRows& rows,
                                     DType format) {
  constexpr size_t kMostRows = 24;  // that are evidence
  // Some 2^6 scales and formats are tried; fewer than one answer in a thousand fits by accident.
  constexpr double kBits = 16;
  MeasuredRows measured;
  double bits = 0, farthest = 0;
  size_t worst = 0;
  for (size_t n = 0; n < rows.count(); ++n) {
    const auto found = NumbersOf(rows, n, format);
    if (!found) return std::nullopt;
    measured.of_rows.push_back(*found);
    const ScaleAndShift right = rows.MomentsOf(n).Numbers();
    const double distance = std::abs(found->scale - right.scale) / UlpOf(format, right.scale) +
                            std::abs(found->shift - right.shift) / UlpOf(format, right.shift);
    if (distance > farthest) farthest = distance, worst = n;
    if (n < kMostRows) bits += BitsOf(rows, n, *found, format);
  }
  if (bits < kBits) return std::nullopt;
  const std::string name(NameOf(format)), count = std::to_string(rows.count());
  Hypothesis model = MeasuredModel(seen, measured);
  model.is_across_slices = true;  // the numbers are those of the rows of the whole case
  return Explanation{
      "moments_in_" + name,
      "1 / sigma and -mean / sigma are numbers of " + name + " in " + count + " of " + count +
          " rows: " + RowText(worst, measured.of_rows[worst], rows.MomentsOf(worst).Numbers()),
      std::move(model)};
}

std::vector<Explanation> MeasureNumbers(const Observation& seen) {
  const NumberedRows rows(seen);
  if (!rows.IsAnswered() || rows.width() < 2) return {};
  for (const DType format : {DType::kBF16, DType::kF16}) {
    if (auto found = NumbersIn(seen, rows, format)) return {*std::move(found)};
  }
  return {};
}

// x / sigma - mean / sigma instead of (x - mean) / sigma: the errors are those of the two numbers
// and not of their difference. There is no model: it says what all elements show.
std::vector<Explanation> MeasureDifference(const Observation& seen) {
  const NumberedRows rows(seen);
  if (!rows.IsAnswered()) return {};
  const DType format = seen.c.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  constexpr double kMostUnits = 4, kLeastUnits = 1.0 / 16;
  constexpr double kCancelled = 8;  // times as large as the difference
  double most = 0, largest = 0;     // units
  for (size_t n = 0; n < rows.count(); ++n) {
    const auto [mean, sigma] = rows.MomentsOf(n);
    for (size_t j = 0; j < rows.width(); ++j) {
      if (!rows.Has(n, j)) continue;
      const Sample sample = rows.At(n, j);
      if (!sample.Fails()) continue;
      const double both = std::abs(rows.X(n, j)) + std::abs(mean);
      if (both < kCancelled * std::abs(rows.X(n, j) - mean)) return {};
      const double numbers = both / sigma;
      const double unit = UnitRoundoffOf(format) * numbers * std::abs(rows.Weight(j));
      most = std::max(most, std::abs(sample.y - sample.right) / unit);
      largest = std::max(largest, std::abs(sample.y - sample.right));
    }
  }
  if (!(most >= kLeastUnits && most <= kMostUnits)) return {};
  return {{"rounded_before_difference",
           "the errors, up to " + TwoDigits(largest) + ", are at most " + TwoDigits(most) +
               " roundings to " + std::string(NameOf(format)) +
               " of x / sigma and mean / sigma: so they are if these are subtracted, and not mean "
               "from x",
           {nullptr, SharedInputs::Of(seen.inputs), seen.recipe}}};
}

}  // namespace

std::vector<Measurement> ScaleAndShiftMeasurements() { return {MeasureNumbers, MeasureDifference}; }

}  // namespace sextant::oracle
