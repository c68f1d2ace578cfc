#include "reference/layer/linear_scaled.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "reference/case/operation.h"
#include "reference/number/any_of.h"
#include "reference/number/matrix_product.h"
#include "reference/number/real.h"

namespace sextant {
namespace {

// The sizes of x[N,B,G,M] and weight[F,A,G,M].
template <class Real>
struct Blocks {
  Blocks(const Tensor<Real>& x, const Weights<Real>& weight)
      : N(x.shape[0]),
        B(x.shape[1]),
        G(x.shape[2]),
        M(x.shape[3]),
        F(weight.shape[0]),
        A(weight.shape[1]),
        x_(x),
        weight_(weight) {}
  size_t rows() const { return N * B; }
  size_t columns() const { return F * A; }
  const Real& X(size_t row, size_t g, size_t m) const { return x_.data[(row * G + g) * M + m]; }
  Real Weight(size_t column, size_t g, size_t m) const {
    return Real(weight_.numbers()[(column * G + g) * M + m], weight_.dtype);
  }

  const Tensor<Real>& x() const { return x_; }
  DType weight_dtype() const { return weight_.dtype; }

  const size_t N, B, G, M, F, A;

 private:
  const Tensor<Real>& x_;
  const Weights<Real>& weight_;
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

// The error of MultiplyScaled relative to T, the sum of the |terms|, and an absolute one.
struct ErrorOfScaled {
  double worst, likely, absolute;
};

// Both steps round to one format, which contains all inputs. A term has three roundings, of two
// products with a scale and of their product; the sum of n computed terms errs by
// RelativeErrorOfSum times their magnitudes, and a scale may instead multiply what is summed
// already. So the error is at most T ((1 + u)^3 (1 + sum) - 1), but where a product is subnormal:
// it errs by at most `least`, and its other factor is at most x or weight.
ErrorOfScaled ErrorOf(const StepRule& rule, size_t n, double x, double weight) {
  const double u = PowerOfTwo(-GridOf(rule.format).precision);
  const SumError sum = RelativeErrorOfSum(rule, n);
  const double least =
      rule.flushes ? PowerOfTwo(GridOf(rule.format).min_exponent) : MinSubnormal(rule.format) / 2;
  const auto of = [&](double of_sum) {
    return (3 * u * (1 + 2 * u) + of_sum * (1 + 4 * u)) * (1 + 0x1p-40);
  };
  return {of(sum.worst), of(sum.likely),
          2 * static_cast<double>(n) * least * (x + weight + 1) * (1 + sum.worst)};
}

// What is known of the dtypes of the inputs, and of the steps.
bool HaveOneFormat(const StepRule& scale, const StepRule& dot, const Blocks<Counted>& of,
                   const Tensor<Counted>& weight_scale, const Tensor<Counted>* x_scale) {
  const auto contained = [&](const Tensor<Counted>& tensor) {
    return std::ranges::all_of(tensor.data, [&](const Counted& x) {
      return x.format() && Contains(dot.format, *x.format()) && std::isfinite(x.center().high);
    });
  };
  return !scale.exact && !dot.exact && scale.format == dot.format &&
         dot.factors == Factors::kWhole && Contains(dot.format, of.weight_dtype()) &&
         contained(of.x()) && contained(weight_scale) && (!x_scale || contained(*x_scale));
}

// Adds to the errors of y those of an implementation that multiplies x, the weight or both by their
// scales before it adds products.
template <class Real>
void PermitScaledOperands(const Blocks<Real>&, const Tensor<Real>&, const Tensor<Real>*,
                          Tensor<Real>&) {}
template <>
void PermitScaledOperands(const Blocks<Counted>& of, const Tensor<Counted>& weight_scale,
                          const Tensor<Counted>* x_scale, Tensor<Counted>& y) {
  const auto rule_of = [](Step step) {
    const ScopedStep at(step);
    return CurrentRule();
  };
  const StepRule scale = rule_of(Step::kScale), dot = rule_of(Step::kDot);
  if (scale.exact && dot.exact) return;
  if (!HaveOneFormat(scale, dot, of, weight_scale, x_scale)) {
    Tensor<Counted> other(y.shape);
    MultiplyScaled(of, weight_scale, x_scale, other);
    for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = AnyOf(y.data[i], {other.data[i]});
    return;
  }
  const auto magnitude = [](const Counted& x) { return std::abs(x.center().high); };
  std::vector<double> totals(y.data.size());
  Tensor<Counted> sums({of.rows(), of.columns()});
  double most_x = 0, most_weight = 0;
  for (size_t g = 0; g < of.G; ++g) {
    const auto by_x = [&](size_t row) {
      return x_scale ? magnitude((*x_scale)(row / of.B, g)) : 1;
    };
    const auto by_weight = [&](size_t column) { return magnitude(weight_scale(column / of.A, g)); };
    const auto x = BlocksOf<Counted>(of.rows(), of.M, [&](size_t row, size_t m) {
      const double number = magnitude(of.X(row, g, m));
      most_x = std::max(most_x, number * by_x(row));
      return Counted(number, dot.format);
    });
    const auto weight = BlocksOf<Counted>(of.columns(), of.M, [&](size_t column, size_t m) {
      const double number = magnitude(of.Weight(column, g, m));
      most_weight = std::max(most_weight, number * by_weight(column));
      return Counted(number, dot.format);
    });
    MultiplyByRows(x, weight, sums);
    for (size_t i = 0; i < totals.size(); ++i)
      totals[i] += sums.data[i].Magnitude() * by_x(i / of.columns()) * by_weight(i % of.columns());
  }
  const ErrorOfScaled error = ErrorOf(dot, of.G * of.M, most_x, most_weight);
  for (size_t i = 0; i < y.data.size(); ++i) {
    const double total = totals[i] * (1 + static_cast<double>(of.G + 4) * 0x1p-52);
    const bool overflows = total * (1 + error.worst) + error.absolute > MaxFinite(dot.format) ||
                           std::max(most_x, most_weight) > MaxFinite(dot.format) / 2;
    Counted& sum = y.data[i];
    const auto larger = [&](double own, double relative) {
      return overflows ? kInfinity : std::max(own, total * relative + error.absolute);
    };
    sum = sum.WithError({larger(sum.error(), error.worst), larger(sum.likely(), error.likely)});
  }
}

}  // namespace

template <class Real>
void LinearScaled::operator()(const Tensor<Real>& x, const Weights<Real>& weight,
                              const Tensor<Real>& weight_scale, const Tensor<Real>* x_scale,
                              const Tensor<Real>* bias, Tensor<Real>& y) const {
  const Blocks<Real> blocks(x, weight);
  const Form form = FormOfScales<Real>();
  (form == Form::kOperands ? MultiplyScaled<Real> : AddBlocks<Real>)(blocks, weight_scale, x_scale,
                                                                     y);
  if (form == Form::kDefault) PermitScaledOperands(blocks, weight_scale, x_scale, y);
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
