#include "oracle/layer/measured/norm_forms.h"

#include <bit>
#include <cmath>
#include <set>
#include <string>

#include "oracle/layer/measured/model.h"
#include "oracle/layer/measured/norm.h"
#include "oracle/layer/tensor_places.h"
#include "reference/layer/layer_norm.h"
#include "reference/layer/rms_norm.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

enum class NormForm {
  kBiasBeforeDivision,  // (x - mean + bias) / root * weight
  kEpsTwice,            // under the root, and beside it
  // x instead of x - mean in the columns from `number` on, or before it; and in the root, too
  kMeanKept,
  kMeanKeptBefore,
  kMeanKeptInRoot,
  kPaddingCentered,    // the mean is subtracted from columns of 0 up to `number`, too
  kSquaresFlushed,     // squares below `number` are 0
  kMeanRounded,        // to the format
  kMomentsRounded,     // the variance is the mean of squares less the squared mean, both rounded
  kFastRoot,           // the inverse root by one step of Newton's method from shifted bits
  kWeightFirst,        // the norm of x * weight
  kOffsetAfterProduct  // x / root * weight + 1, where 1 + weight is the factor
};

struct FormOf {
  NormForm form{};
  double number = 0;
  DType format = DType::kF16;
};

// The rows of a norm of that form, where all else is as in the right one.
template <class Real>
class NormFormRows {
 public:
  NormFormRows(const Norm& norm, const FormOf& of)
      : right_(norm), form_(of.form), number_(of.number), format_(of.format) {}

  void Write(const Tensor<Real>& x, const Tensor<Real>& weight, const std::vector<Real>& bias,
             Tensor<Real>& y) const {
    for (size_t n = 0; n < x.shape[0]; ++n) {
      const std::vector<Real> row = ReadRow(x, weight, n);
      Real mean = right_.subtracts_mean ? MeanOf(row) : Real(0.0);
      if (form_ == NormForm::kMeanRounded) mean = Rounded16(mean);
      const Real root = RootOf(row, mean);
      for (size_t j = 0; j < row.size(); ++j)
        y(n, j) = Normed({row[j], j}, mean, root, weight, bias);
    }
  }

 private:
  struct Element {
    Real x;
    size_t column;
  };
  // In the steps of layer_norm.
  Real Normed(const Element& at, const Real& mean, const Real& root, const Tensor<Real>& weight,
              const std::vector<Real>& bias) const {
    const auto& [x, j] = at;
    Real value = KeepsMean(j) ? x : Centered(x, mean);
    if (form_ == NormForm::kBiasBeforeDivision) value = Plus(value, bias[j]);
    {
      const ScopedStep scale(Step::kScale);
      value = value / root;
    }
    if (form_ != NormForm::kWeightFirst) {
      const ScopedStep weigh(Step::kWeigh);
      value = value * FactorAt(weight, j);
    }
    if (form_ == NormForm::kOffsetAfterProduct) value = Plus(value, Real(1.0));
    const bool has_bias = !bias.empty() && form_ != NormForm::kBiasBeforeDivision;
    return has_bias ? Plus(value, bias[j]) : value;
  }
  Real Centered(const Real& x, const Real& mean) const {
    if (!right_.subtracts_mean) return x;
    const ScopedStep center(Step::kCenter);
    return x - mean;
  }
  static Real Plus(const Real& value, const Real& more) {
    const ScopedStep add(Step::kBias);
    return value + more;
  }
  bool KeepsMean(size_t j) const {
    const auto column = static_cast<double>(j);
    return form_ == NormForm::kMeanKeptBefore
               ? column < number_
               : (form_ == NormForm::kMeanKept || form_ == NormForm::kMeanKeptInRoot) &&
                     column >= number_;
  }
  Real Rounded16(const Real& x) const { return Real(RoundTo(format_, NumberIn(x))); }
  Real FactorAt(const Tensor<Real>& weight, size_t j) const {
    const bool has_offset = right_.unit_offset && form_ != NormForm::kOffsetAfterProduct;
    return has_offset ? Real(1.0) + weight.data[j] : weight.data[j];
  }
  std::vector<Real> ReadRow(const Tensor<Real>& x, const Tensor<Real>& weight, size_t n) const {
    std::vector<Real> row;
    for (size_t j = 0; j < x.shape[1]; ++j)
      row.push_back(form_ == NormForm::kWeightFirst ? x(n, j) * FactorAt(weight, j) : x(n, j));
    return row;
  }
  static Real Sum(const std::vector<Real>& terms) {
    const ScopedStep sum(Step::kSum);
    return SumOf(terms);
  }
  static Real MeanOf(const std::vector<Real>& terms) {
    const Real sum = Sum(terms);
    const ScopedStep center(Step::kCenter);
    return sum / Real(static_cast<double>(terms.size()));
  }
  Real RootOf(const std::vector<Real>& row, const Real& mean) const {
    const bool has_moments = form_ == NormForm::kMomentsRounded;
    const Real sum = has_moments ? Real(0.0) : Sum(SquaresOf(row, mean));
    const ScopedStep divide(Step::kRsqrt);
    const Real square =
        has_moments ? DifferenceOfMoments(row, mean) : sum / Real(static_cast<double>(row.size()));
    if (form_ == NormForm::kFastRoot) return Real(1.0) / FastInverseRoot(square + Real(right_.eps));
    const Real root = Sqrt(square + Real(right_.eps));
    return form_ == NormForm::kEpsTwice ? root + Real(right_.eps) : root;
  }
  std::vector<Real> SquaresOf(const std::vector<Real>& row, const Real& mean) const {
    std::vector<Real> squares;
    for (size_t j = 0; j < row.size(); ++j) {
      const bool keeps = form_ == NormForm::kMeanKeptInRoot && KeepsMean(j);
      const Real centered = keeps ? row[j] : Centered(row[j], mean);
      const ScopedStep square(Step::kSquare);
      squares.push_back(centered * centered);
      if (form_ == NormForm::kSquaresFlushed && NumberIn(squares[j]) < number_)
        squares[j] = Real(0.0);
    }
    if (form_ == NormForm::kPaddingCentered)
      squares[0] = squares[0] + Real(number_ - static_cast<double>(row.size())) * mean * mean;
    return squares;
  }
  Real DifferenceOfMoments(const std::vector<Real>& row, const Real& mean) const {
    std::vector<Real> squares;
    for (const Real& x : row) squares.push_back(x * x);
    const Real rounded = Rounded16(mean);
    const Real difference = Rounded16(MeanOf(squares)) - rounded * rounded;
    return NumberIn(difference) < 0 ? Real(0.0) : difference;
  }
  // 0x5f3759df - bits / 2, as in Quake III Arena, and one step of Newton's method.
  static Real FastInverseRoot(const Real& square) {
    const auto x = static_cast<float>(NumberIn(square));
    const auto start = std::bit_cast<float>(0x5f3759dfU - (std::bit_cast<uint32_t>(x) >> 1U));
    const Real y(static_cast<double>(start));
    return y * (Real(1.5) - Real(0.5) * square * y * y);
  }

  const Norm& right_;
  const NormForm form_;
  const double number_;
  const DType format_;
};

struct RmsForm : RmsNorm {
  Norm right;
  FormOf of;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) const {
    NormFormRows<Real>(right, of).Write(x, weight, {}, y);
  }
};
struct LayerForm : LayerNorm {
  Norm right;
  FormOf of;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, const Tensor<Real>& bias,
                  Tensor<Real>& y) const {
    NormFormRows<Real>(right, of).Write(x, weight, bias.data, y);
  }
};

template <class Measured>
Hypothesis NormFormModelOf(const Observation& seen, const Norm& right, const FormOf& of) {
  Measured measured;
  measured.right = right;
  measured.of = of;
  return MeasuredModel(seen, measured);
}

struct NamedForm {
  FormOf of;
  std::string name, sentence;
};

void AddRounded(const Norm& right, DType dtype, std::vector<NamedForm>& all) {
  for (const DType format : {DType::kBF16, DType::kF16}) {
    if (UnitRoundoffOf(format) <= UnitRoundoffOf(dtype) || !right.subtracts_mean) continue;
    const std::string in(NameOf(format));
    all.push_back(
        {{NormForm::kMeanRounded, 0, format}, "mean_in_" + in, "the mean is rounded to " + in});
    all.push_back({{NormForm::kMomentsRounded, 0, format},
                   "moments_in_" + in,
                   "the variance is the mean of squares less the squared mean, one pass, both "
                   "rounded to " +
                       in});
  }
  for (const int power : {14, 24}) {
    all.push_back({{NormForm::kSquaresFlushed, std::ldexp(1, -power)},
                   "small_squares_are_0",
                   "squares below 2^-" + std::to_string(power) + " are 0: they underflow in f16"});
  }
  all.push_back({{NormForm::kFastRoot},
                 "fast_inverse_root",
                 "the inverse root is approximated: bits shifted from 0x5f3759df, and one step of "
                 "Newton's method"});
}

void AddCentered(size_t M, std::vector<NamedForm>& all) {
  std::set<size_t> firsts = {M / 2}, padded = {std::bit_ceil(M)};
  for (size_t width = 4; width < M && width <= 256; width *= 2) {
    firsts.insert({width, M / width * width});
    padded.insert((M + width - 1) / width * width);
  }
  for (const size_t from : firsts) {
    if (from == 0 || from == M) continue;
    const std::string column = std::to_string(from);
    const auto number = static_cast<double>(from);
    const std::string kept = "the mean is not subtracted in the columns ";
    const char* right = ", though the divisor is the right one";
    all.push_back(
        {{NormForm::kMeanKept, number}, "mean_kept", kept + "from " + column + " on" + right});
    all.push_back(
        {{NormForm::kMeanKeptBefore, number}, "mean_kept", kept + "before " + column + right});
    all.push_back({{NormForm::kMeanKeptInRoot, number},
                   "mean_kept",
                   kept + "from " + column + " on, and not for their squares"});
  }
  for (const size_t width : padded) {
    if (width == M) continue;
    all.push_back({{NormForm::kPaddingCentered, static_cast<double>(width)},
                   "padding_centered",
                   "the mean is subtracted from columns of 0 that pad a row to " +
                       std::to_string(width) + ", too, and their squares are summed"});
  }
}

}  // namespace

std::vector<Explanation> NormForms(const Observation& seen) {
  const bool has_bias = seen.inputs.size() > kBias;
  const size_t M = seen.inputs[kX].values.shape[1];
  if (M == 0) return {};
  const Norm right = RightNorm(seen.c, M, has_bias);
  std::vector<NamedForm> forms;
  if (has_bias)
    forms.push_back({{NormForm::kBiasBeforeDivision},
                     "bias_before_division",
                     "the bias is added to x - mean, before the division and the weight"});
  forms.push_back(
      {{NormForm::kEpsTwice}, "eps_twice", "eps is added under the root, and once more beside it"});
  forms.push_back({{NormForm::kWeightFirst},
                   "weight_before_norm",
                   "x is multiplied by the weight before the norm"});
  if (right.unit_offset)
    forms.push_back({{NormForm::kOffsetAfterProduct},
                     "offset_after_product",
                     "1 is added to the product of x and the weight, not to the weight"});
  AddRounded(right, seen.c.dtype(), forms);
  if (right.subtracts_mean) AddCentered(M, forms);
  std::vector<Explanation> all;
  for (const NamedForm& form : forms) {
    all.push_back({form.name, form.sentence,
                   has_bias ? NormFormModelOf<LayerForm>(seen, right, form.of)
                            : NormFormModelOf<RmsForm>(seen, right, form.of)});
  }
  return all;
}

}  // namespace sextant::oracle
