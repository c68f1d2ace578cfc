#include "reference/layer/linear_scaled.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "reference/case/operation.h"
#include "reference/layer/zero_points.h"
#include "reference/number/any_of.h"
#include "reference/number/matrix_product.h"
#include "reference/number/real.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {
namespace {

// x[N,B,G,M] and weight[F,A,G,M], less their zero points: then they have the type f16, of which all
// these differences are numbers.
template <class Real>
struct Blocks {
  Blocks(const Tensor<Real>& x, const Weights<Real>& weight, const Tensor<Real>* weight_zero,
         const Tensor<Real>* x_zero)
      : N(x.shape[0]),
        B(x.shape[1]),
        G(x.shape[2]),
        M(x.shape[3]),
        F(weight.shape[0]),
        A(weight.shape[1]),
        x_(x),
        weight_(weight.numbers().begin(), weight.numbers().end()),
        weight_dtype_(weight_zero ? DType::kF16 : weight.dtype) {
    for (size_t i = 0; weight_zero && i < weight_.size(); ++i)
      weight_[i] -= ZeroAt("weight_zero", weight_zero, i / (A * G * M), i / M % G);
    for (size_t i = 0; x_zero && i < x_.data.size(); ++i)
      x_.data[i] = Real(ValueOf(x_.data[i]) - ZeroAt("x_zero", x_zero, i / (B * G * M), i / M % G),
                        DType::kF16);
  }
  size_t rows() const { return N * B; }
  size_t columns() const { return F * A; }
  const Real& X(size_t row, size_t g, size_t m) const { return x_.data[(row * G + g) * M + m]; }
  Real Weight(size_t column, size_t g, size_t m) const {
    return Real(weight_[(column * G + g) * M + m], weight_dtype_);
  }

  const Tensor<Real>& x() const { return x_; }
  DType weight_dtype() const { return weight_dtype_; }

  const size_t N, B, G, M, F, A;

 private:
  Tensor<Real> x_;
  std::vector<double> weight_;
  DType weight_dtype_;
};

// How the recipe says that scales are multiplied; the default is any way.
template <class Real>
Form FormOfScales() {
  if constexpr (RealArithmetic<Real>) return Form::kBlocks;
  const ScopedStep at(Step::kScale);
  return CurrentRule().form;
}

template <class Real>
Tensor<Real> BlocksOf(size_t rows, size_t M, const auto& number) {
  Tensor<Real> block({rows, M});
  for (size_t i = 0; i < block.data.size(); ++i) block.data[i] = number(i / M, i % M);
  return block;
}

// The sum of a block by both scales, for Counted in any order.
template <class Real>
Real Scaled(const Real& sum, const Real& of_weight, const Real* of_x) {
  return sum * (of_x ? *of_x * of_weight : of_weight);
}
template <>
Counted Scaled(const Counted& sum, const Counted& of_weight, const Counted* of_x) {
  if (!of_x) return sum * of_weight;
  const Counted by_both = sum * (*of_x * of_weight);
  return AnyOf(by_both, {sum * *of_x * of_weight, sum * of_weight * *of_x});
}

// The sum of each block by both scales, and the sum of these.
template <class Real>
void AddBlocks(const Blocks<Real>& of, const Tensor<Real>& weight_scale,
               const Tensor<Real>* x_scale, Tensor<Real>& y) {
  std::vector<std::vector<Real>> terms(y.data.size());
  Tensor<Real> sums({of.rows(), of.columns()});
  for (size_t g = 0; g < of.G; ++g) {
    const auto x =
        BlocksOf<Real>(of.rows(), of.M, [&](size_t row, size_t m) { return of.X(row, g, m); });
    const auto weight = BlocksOf<Real>(
        of.columns(), of.M, [&](size_t column, size_t m) { return of.Weight(column, g, m); });
    MultiplyByRows(x, weight, sums);
    const ScopedStep at(Step::kScale);
    for (size_t row = 0; row < of.rows(); ++row) {
      const Real* const of_x = x_scale ? &(*x_scale)(row / of.B, g) : nullptr;
      for (size_t column = 0; column < of.columns(); ++column)
        terms[row * of.columns() + column].push_back(
            Scaled(sums(row, column), weight_scale(column / of.A, g), of_x));
    }
  }
  const ScopedStep at(Step::kSum);
  for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = SumOf(terms[i]);
}

// The products of x and the weight, both scaled before.
template <class Real>
void MultiplyScaled(const Blocks<Real>& of, const Tensor<Real>& weight_scale,
                    const Tensor<Real>* x_scale, Tensor<Real>& y) {
  const size_t width = of.G * of.M;
  Tensor<Real> x({of.rows(), width}), weight({of.columns(), width});
  {
    const ScopedStep at(Step::kScale);
    for (size_t i = 0; i < x.data.size(); ++i) {
      const size_t row = i / width, g = i % width / of.M;
      const Real& number = of.X(row, g, i % of.M);
      x.data[i] = x_scale ? number * (*x_scale)(row / of.B, g) : number;
    }
    for (size_t i = 0; i < weight.data.size(); ++i) {
      const size_t column = i / width, g = i % width / of.M;
      weight.data[i] = of.Weight(column, g, i % of.M) * weight_scale(column / of.A, g);
    }
  }
  Tensor<Real> products({of.rows(), of.columns()});
  MultiplyByRows(x, weight, products);
  std::ranges::copy(products.data, y.data.begin());
}

// An implementation in one format, which contains all inputs, multiplies the factors of a term, x,
// weight and their scales, in any order, and adds in any order, so that a scale may also multiply a
// sum. Then each term has at most `roundings`, and all n of them one error of a sum: relative to
// the sum T of the |terms| the result errs by at most (1 + u)^roundings (1 + sum) - 1. A product
// that is subnormal errs by UnderflowErrorOf more, which its other factors multiply.
struct AnyOrder {
  AnyOrder(const StepRule& rule, size_t n, int roundings)
      : rule_(rule),
        n_(static_cast<double>(n)),
        rounded_(roundings * UnitRoundoffOf(rule.format)),
        sum_(RelativeErrorOfSum(rule, n)) {}
  // total: T. others: no product of some of a term's factors is larger. most: no sum on the way is
  // larger. A term has three products; 2 bounds what roundings add to their errors.
  Counted::Bounds Of(double total, double others, double most) const {
    const double underflow = 3 * 2 * n_ * UnderflowErrorOf(rule_) * others * (1 + sum_.worst);
    const auto bound = [&](double sum) {
      const double relative = rounded_ * (1 + rounded_) + sum * (1 + 2 * rounded_);
      return (total * relative + underflow) * (1 + 0x1p-40);
    };
    const double worst = bound(sum_.worst);
    if (!(std::max({most, others, total}) + worst <= MaxFinite(rule_.format)))
      return {kInfinity, kInfinity};
    return {worst, bound(sum_.likely)};
  }

 private:
  const StepRule& rule_;
  const double n_, rounded_;
  const SumError sum_;
};

bool HasFormat(const Tensor<Counted>& tensor, DType format) {
  return std::ranges::all_of(tensor.data, [&](const Counted& x) {
    return x.format() && Contains(format, *x.format()) && std::isfinite(x.center().high);
  });
}

// Without numbers any type.
DType TypeOf(const Tensor<Counted>& tensor) {
  return tensor.data.empty() ? DType::kE8M0 : *tensor.data[0].format();
}

// Of a term: none if all of its products are exact.
int RoundingsOf(const Blocks<Counted>& of, const Tensor<Counted>& weight_scale,
                const Tensor<Counted>* x_scale, DType format) {
  const int scales =
      (TypeOf(weight_scale) != DType::kE8M0) + (x_scale && TypeOf(*x_scale) != DType::kE8M0);
  const bool is_exact = GridOf(TypeOf(of.x())).precision + GridOf(of.weight_dtype()).precision <=
                        GridOf(format).precision;
  return scales == 0 && is_exact ? 0 : scales + 1;
}

// The largest of the magnitudes of each of some parts, and 1.
std::vector<double> LargestOfEach(size_t parts, size_t each, const auto& number) {
  std::vector<double> largest(parts, 1);
  for (size_t i = 0; i < parts * each; ++i)
    largest[i / each] = std::max(largest[i / each], std::abs(number(i).center().high));
  return largest;
}

// Adds to the errors of y those of AnyOrder.
template <class Real>
void PermitAnyOrder(const Blocks<Real>&, const Tensor<Real>&, const Tensor<Real>*, Tensor<Real>&) {}
template <>
void PermitAnyOrder(const Blocks<Counted>& of, const Tensor<Counted>& weight_scale,
                    const Tensor<Counted>* x_scale, Tensor<Counted>& y) {
  const auto rule_of = [](Step step) {
    const ScopedStep at(step);
    return CurrentRule();
  };
  const StepRule scale = rule_of(Step::kScale), dot = rule_of(Step::kDot);
  if (scale.exact && dot.exact) return;
  const bool is_one_format =
      !scale.exact && !dot.exact && scale.format == dot.format && dot.factors == Factors::kWhole &&
      Contains(dot.format, of.weight_dtype()) && HasFormat(of.x(), dot.format) &&
      HasFormat(weight_scale, dot.format) && (!x_scale || HasFormat(*x_scale, dot.format));
  if (!is_one_format) {
    Tensor<Counted> other(y.shape);
    MultiplyScaled(of, weight_scale, x_scale, other);
    for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = AnyOf(y.data[i], {other.data[i]});
    return;
  }
  const auto magnitudes = [&](size_t rows, size_t g, const auto& number) {
    return BlocksOf<Counted>(rows, of.M, [&](size_t row, size_t m) {
      return Counted(std::abs(number(row, g, m).center().high), dot.format);
    });
  };
  const auto x_of = [&](size_t row, size_t g, size_t m) { return of.X(row, g, m); };
  const auto weight_of = [&](size_t row, size_t g, size_t m) { return of.Weight(row, g, m); };
  const auto scale_of = [](const Tensor<Counted>* of_block, size_t i, size_t g) {
    return of_block ? std::abs((*of_block)(i, g).center().high) : 1;
  };
  std::vector<double> totals(y.data.size()), most(y.data.size());
  Tensor<Counted> sums({of.rows(), of.columns()});
  for (size_t g = 0; g < of.G; ++g) {
    MultiplyByRows(magnitudes(of.rows(), g, x_of), magnitudes(of.columns(), g, weight_of), sums);
    for (size_t i = 0; i < totals.size(); ++i) {
      const double by_x = scale_of(x_scale, i / of.columns() / of.B, g),
                   by_weight = scale_of(&weight_scale, i % of.columns() / of.A, g),
                   sum = sums.data[i].Magnitude();
      totals[i] += sum * by_x * by_weight * (1 + 0x1p-50);
      most[i] = std::max(most[i], sum * std::max(by_x, 1.0) * std::max(by_weight, 1.0));
    }
  }
  const size_t width = of.G * of.M;
  const auto x = LargestOfEach(of.rows(), width, [&](size_t i) { return of.x().data[i]; });
  const auto weight = LargestOfEach(of.columns(), width, [&](size_t i) {
    return of.Weight(i / width, i % width / of.M, i % of.M);
  });
  const auto by_weight = LargestOfEach(of.F, of.G, [&](size_t i) { return weight_scale.data[i]; });
  const auto by_x = x_scale ? LargestOfEach(of.N, of.G, [&](size_t i) { return x_scale->data[i]; })
                            : std::vector<double>(of.N, 1);
  const AnyOrder any(dot, width, RoundingsOf(of, weight_scale, x_scale, dot.format));
  for (size_t i = 0; i < y.data.size(); ++i) {
    const size_t row = i / of.columns(), column = i % of.columns();
    const double others = x[row] * weight[column] * by_x[row / of.B] * by_weight[column / of.A];
    const Counted::Bounds bounds =
        any.Of(totals[i] * (1 + static_cast<double>(of.G) * 0x1p-52), others, most[i]);
    y.data[i] = y.data[i].WithError(
        {std::max(y.data[i].error(), bounds.worst), std::max(y.data[i].likely(), bounds.likely)});
  }
}

}  // namespace

void LinearScaled::CheckTypes(const std::map<std::string, DType>& given) const {
  if (with.Has("weight_zero")) ExpectIntegers("weight_zero", "weight", given);
  if (with.Has("x_zero")) ExpectIntegers("x_zero", "x", given);
}

template <class Real>
void LinearScaled::operator()(const Tensor<Real>& x, const Weights<Real>& weight,
                              const Tensor<Real>& weight_scale, const Tensor<Real>* x_scale,
                              const Tensor<Real>* bias, const Tensor<Real>* weight_zero,
                              const Tensor<Real>* x_zero, Tensor<Real>& y) const {
  const Blocks<Real> blocks(x, weight, weight_zero, x_zero);
  const Form form = FormOfScales<Real>();
  (form == Form::kOperands ? MultiplyScaled<Real> : AddBlocks<Real>)(blocks, weight_scale, x_scale,
                                                                     y);
  if (form == Form::kDefault) PermitAnyOrder(blocks, weight_scale, x_scale, y);
  if (!bias) return;
  const ScopedStep at(Step::kBias);
  for (size_t i = 0; i < y.data.size(); ++i)
    y.data[i] = y.data[i] + bias->data[i % bias->data.size()];
}

template <>
std::unique_ptr<Operation> MakeOperation<LinearScaled>() {
  return Wrap<LinearScaled>();
}

}  // namespace sextant
