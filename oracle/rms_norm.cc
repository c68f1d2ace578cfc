#include "reference/rms_norm.h"

#include <cmath>
#include <map>

#include "oracle/laws.h"
#include "oracle/oracle.h"
#include "reference/real.h"
#include "reference/scaling.h"

namespace sextant::oracle {
namespace {

constexpr size_t kX = 0, kWeight = 1;

bool HasUnitOffset(const Case& c) { return TextOf(c, "unit_offset") == "true"; }

// The same case with that weight in every column, 1 + weight where it is given less 1.
Tensors WithWeight(const Case& c, Tensors inputs, double weight) {
  std::ranges::fill(inputs[kWeight].values.data, HasUnitOffset(c) ? weight - 1 : weight);
  return inputs;
}

Tensors Scaled(Tensors inputs, double factor) {
  inputs[kX].values = Times(inputs[kX].values, factor);
  return inputs;
}

// 2 x and 4 eps give the same y: eps has the unit of x^2.
Findings CheckUnits(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs);
  const Response scaled =
      ask(c.With("eps=" + PrintValue(4 * NumberOf(c, "eps", 0))), Scaled(inputs, 2));
  Findings findings;
  Same(y, scaled, findings);
  return findings;
}

Findings CheckOdd(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs), negative = ask(c, Scaled(inputs, -1));
  Findings findings;
  for (size_t i = 0; i < y.outputs[0].values.data.size(); ++i) {
    findings.Equal(negative(0, i), -y(0, i), {negative, 0, i});
  }
  return findings;
}

// sum y^2 <= M for weight 1, and = M for eps 0.
Findings CheckMeanSquare(const Case& c, const Tensors& inputs, const Ask& ask, bool without_eps) {
  const Case asked = without_eps ? c.With("eps=0") : c;
  const size_t N = ExtentOf(c, "N"), M = ExtentOf(c, "M");
  const Response y = ask(asked, WithWeight(c, inputs, 1));
  Findings findings;
  for (size_t n = 0; n < N; ++n) {
    Measured sum = 0;
    for (size_t j = 0; j < M; ++j) sum = sum + y(0, n * M + j) * y(0, n * M + j);
    if (without_eps) findings.Equal(sum, static_cast<double>(M), {y, 0, n * M});
    if (!without_eps) findings.AtMost(sum, static_cast<double>(M), {y, 0, n * M});
  }
  return findings;
}

// x = 1 and eps = 3: 1 / sqrt(1 + 3) = 1 / 2.
Findings CheckOnes(const Case& c, Tensors inputs, const Ask& ask) {
  std::ranges::fill(inputs[kX].values.data, 1);
  const Response y = ask(c.With("eps=3"), inputs);
  const size_t M = ExtentOf(c, "M");
  Findings findings;
  for (size_t i = 0; i < y.outputs[0].values.data.size(); ++i) {
    const Measured weight = inputs[kWeight].values.data[i % M];
    findings.Equal(y(0, i) * 2, HasUnitOffset(c) ? weight + 1 : weight, {y, 0, i});
  }
  return findings;
}

// Without an offset twice the weight gives twice y; with it y(w) + y(-w) = 2 y(0).
Findings CheckWeight(const Case& c, const Tensors& inputs, const Ask& ask) {
  const bool offset = HasUnitOffset(c);
  Tensors other = inputs, zero = inputs;
  other[kWeight].values = Times(inputs[kWeight].values, offset ? -1 : 2);
  zero[kWeight].values = Times(inputs[kWeight].values, 0);
  const Response y = ask(c, inputs), y_other = ask(c, other), y_zero = ask(c, zero);
  Findings findings;
  for (size_t i = 0; i < y.outputs[0].values.data.size(); ++i) {
    if (offset) {
      findings.Equal(y(0, i) + y_other(0, i), y_zero(0, i) * 2, {y, 0, i});
    } else {
      findings.Equal(y_other(0, i), y(0, i) * 2, {y_other, 0, i});
      findings.Equal(y_zero(0, i), 0, {y_zero, 0, i});
    }
  }
  return findings;
}

// Columns of x and weight in reverse order give y in reverse order.
Findings CheckColumns(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t M = ExtentOf(c, "M");
  const auto reversed = [M](size_t i) { return i / M * M + (M - 1 - i % M); };
  Tensors turned = inputs;
  for (Tensors::size_type t : {kX, kWeight}) {
    for (size_t i = 0; i < turned[t].values.data.size(); ++i) {
      turned[t].values.data[i] = inputs[t].values.data[reversed(i)];
    }
  }
  const Response y = ask(c, inputs), other = ask(c, turned);
  Findings findings;
  for (size_t i = 0; i < y.outputs[0].values.data.size(); ++i) {
    findings.Equal(other(0, reversed(i)), y(0, i), {y, 0, i});
  }
  return findings;
}

// The formula with one mistake.
struct Mistaken : RmsNorm {
  static constexpr double kLargest = 0x1p127;  // no mean of squares that f32 holds is larger
  enum class Mistake {
    kEpsOutside,      // x / (rms + eps)
    kSum,             // the sum in place of the mean
    kPadded,          // divided by the width of a whole vector of 16
    kUnbiased,        // divided by M - 1
    kSquareOfRoot,    // x / (mean square + eps)
    kMeanSubtracted,  // layer norm without its bias
    kEpsAsFloor,      // x / sqrt(max(mean square, eps))
    kWeightAdded,     // x / rms + w
    kColumns,         // the mean goes down the columns
    kFirstRow,        // every row has the first one's mean
    kWhole            // one mean for all rows
  } mistake{};

  // What x(n, j) is divided by.
  template <class Real>
  Real Divisor(const Tensor<Real>& x, size_t n, size_t j) const {
    const size_t N = x.shape[0], M = x.shape[1];
    std::vector<Real> squares;
    for (size_t row = 0; row < N; ++row) {
      for (size_t column = 0; column < M; ++column) {
        const bool counts = mistake == Mistake::kWhole      ? true
                            : mistake == Mistake::kColumns  ? column == j
                            : mistake == Mistake::kFirstRow ? row == 0
                                                            : row == n;
        if (!counts) continue;
        const InStep at(Step::kSquare);
        squares.push_back(x(row, column) * x(row, column));
      }
    }
    Real sum;
    {
      const InStep at(Step::kSum);
      sum = SumOf(squares);
    }
    const InStep at(Step::kRsqrt);
    const Real mean = sum / Real(Count(squares.size()));
    if (mistake == Mistake::kEpsOutside) return Sqrt(mean) + Real(eps);
    if (mistake == Mistake::kSquareOfRoot) return mean + Real(eps);
    if (mistake == Mistake::kEpsAsFloor) return Sqrt(Clamp(mean, Real(eps), Real(kLargest)));
    return Sqrt(mean + Real(eps));
  }
  double Count(size_t terms) const {
    if (mistake == Mistake::kSum) return 1;
    if (mistake == Mistake::kPadded) return static_cast<double>((terms + 15) / 16 * 16);
    if (mistake == Mistake::kUnbiased) return std::max(1.0, static_cast<double>(terms) - 1);
    return static_cast<double>(terms);
  }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) const {
    Tensor<Real> from = x;
    if (mistake == Mistake::kMeanSubtracted) {
      const InStep at(Step::kSum);
      for (size_t n = 0; n < x.shape[0]; ++n) {
        const auto row = x.data.begin() + static_cast<ptrdiff_t>(n * x.shape[1]);
        const std::vector<Real> terms(row, row + static_cast<ptrdiff_t>(x.shape[1]));
        const Real mean = SumOf(terms) / Real(static_cast<double>(terms.size()));
        for (size_t j = 0; j < x.shape[1]; ++j) from(n, j) = x(n, j) - mean;
      }
    }
    std::map<size_t, Real> divisors;  // one per row, or per column
    for (size_t n = 0; n < x.shape[0]; ++n) {
      for (size_t j = 0; j < x.shape[1]; ++j) {
        const size_t unit = mistake == Mistake::kColumns ? j : n;
        if (!divisors.contains(unit)) divisors.emplace(unit, Divisor(from, n, j));
        Real scaled;
        {
          const InStep at(Step::kScale);
          scaled = from(n, j) / divisors.at(unit);
        }
        const InStep at(Step::kWeigh);
        const Real factor = unit_offset ? Real(1.0) + weight(j) : weight(j);
        y(n, j) = mistake == Mistake::kWeightAdded ? scaled + factor : scaled * factor;
      }
    }
  }
};

std::vector<Defect> FormulaDefects() {
  using Mistake = Mistaken::Mistake;
  return {
      MutatedFormula<Mistaken>("eps_outside_the_root", "x / (rms + eps) (apple/coremltools#2822)",
                               Mistake::kEpsOutside),
      MutatedFormula<Mistaken>("sum_for_mean", "the sum of squares in place of their mean",
                               Mistake::kSum),
      MutatedFormula<Mistaken>("mean_over_padding", "lanes beyond the row's end count in the mean",
                               Mistake::kPadded),
      MutatedFormula<Mistaken>("mean_over_one_less", "divided by M - 1, as an unbiased variance",
                               Mistake::kUnbiased),
      MutatedFormula<Mistaken>("root_missing", "x / (mean square + eps)", Mistake::kSquareOfRoot),
      MutatedFormula<Mistaken>("mean_subtracted", "x less its mean, as layer norm has it",
                               Mistake::kMeanSubtracted),
      MutatedFormula<Mistaken>("eps_as_floor",
                               "max(mean square, eps), as vectors are normalised elsewhere",
                               Mistake::kEpsAsFloor),
      MutatedFormula<Mistaken>("weight_added", "the weight is added as a bias is",
                               Mistake::kWeightAdded),
      MutatedFormula<Mistaken>("mean_of_first_row", "every row is divided by the root of the first",
                               Mistake::kFirstRow),
      MutatedFormula<Mistaken>("mean_down_the_columns", "the mean goes over the wrong axis",
                               Mistake::kColumns),
      MutatedFormula<Mistaken>("mean_over_all_rows", "all rows share one mean", Mistake::kWhole),
  };
}

std::vector<Defect> ChangedDefects() {
  return {
      ChangedWord("eps_missing", "no eps at all", "eps=0"),
      ChangedWord("eps_of_bf16",
                  "eps is the distance of neighbours in bf16 (pytorch/pytorch#189581)",
                  "eps=0.0078125"),
      ChangedWord("eps_added_to_the_sum", "eps is added before the division by M",
                  [](const Case& c) {
                    const size_t M = std::max<size_t>(1, ExtentOf(c, "M"));
                    return "eps=" + PrintValue(NumberOf(c, "eps", 0) / static_cast<double>(M));
                  }),
      ChangedInputs("weight_ignored", "the weight is taken for 1",
                    [](const Case& c, Tensors& inputs) {
                      inputs = WithWeight(c, inputs, 1);
                      return true;
                    }),
      ChangedInputs("weight_reversed", "the weight belongs to other channels",
                    [](const Case&, Tensors& inputs) {
                      std::ranges::reverse(inputs[kWeight].values.data);
                      return true;
                    }),
      ChangedRecipe("squares_in_f16",
                    "squares beyond 256 overflow (openvinotoolkit/openvino#36504)",
                    "square=f16 sum=f16"),
      ChangedRecipe("sum_in_bf16", "an 8-bit mean (nnstreamer/nntrainer#3935)", "sum=bf16"),
      ChangedRecipe("root_in_bf16", "the reciprocal root is kept in bf16", "rsqrt=bf16"),
      ChangedRecipe("weight_in_bf16", "the weight is multiplied in bf16 whatever the dtype",
                    "weigh=bf16"),
  };
}

}  // namespace

template <>
Oracle MakeOracle<RmsNorm>() {
  return {
      .properties = {{"eps_has_the_unit_of_squares", "2 x and 4 eps give the same y", CheckUnits},
                     {"odd", "-x gives -y", CheckOdd},
                     {"mean_square_at_most_one", "with weight 1 the mean square is at most 1",
                      [](const Case& c, const Tensors& inputs, const Ask& ask) {
                        return CheckMeanSquare(c, inputs, ask, false);
                      }},
                     {"mean_square_is_one", "with weight 1 and eps 0 the mean square is 1",
                      [](const Case& c, const Tensors& inputs, const Ask& ask) {
                        return CheckMeanSquare(c, inputs, ask, true);
                      }},
                     {"ones_with_eps_three", "ones with eps 3 give half the weight", CheckOnes},
                     {"linear_in_weight", "y is linear in the weight, offset aside", CheckWeight},
                     {"columns_alike", "columns in reverse order give y in reverse order",
                      CheckColumns}},
      .defects = Joined<Defect>({FormulaDefects(), ChangedDefects()})};
}

}  // namespace sextant::oracle
