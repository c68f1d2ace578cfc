#include "oracle/layer/layer_norm_defects.h"

#include <algorithm>
#include <map>

#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/norm_defects.h"
#include "reference/layer/layer_norm.h"
#include "reference/number/real.h"
#include "reference/rope/scaling.h"

namespace sextant::oracle {
namespace {

// The formula with one mutation.
struct MutatedLayerNorm : LayerNorm {
  static constexpr double kLargest = 0x1p127;  // upper bound of variances, near the largest f32
  enum class Mutation {
    kNone,
    kOnePass,       // mean(x^2) - mean^2, not below 0
    kUnbiased,      // the variance is divided by M - 1
    kNotCentered,   // root mean square normalisation, with a bias
    kMeanKept,      // x / deviation: the mean is used only in the variance
    kEpsOutside,    // divided by (deviation + eps)
    kEpsAsFloor,    // divided by sqrt(max(variance, eps))
    kSquareOfRoot,  // divided by (variance + eps)
    kPadded,        // sums divided by the width of a whole vector of 16
    kSum,           // the sum of squares instead of their mean
    kDeviation,     // mean|x - mean| instead of the root
    kUnitOffset,    // the weight is 1 + weight
    kBiasFirst,     // (scaled + bias) weight
    kColumns,       // mean and variance run down the columns
    kFirstRow,      // every row has the moments of the first one
    kWhole          // one mean and one variance for all rows
  } mutation{};

  bool Is(Mutation m) const { return mutation == m; }

  template <class Real>
  struct Moments {
    Real mean, divisor;
  };

  template <class Real>
  static Real Sum(const std::vector<Real>& terms) {
    const ScopedStep at(Step::kSum);
    return SumOf(terms);
  }
  template <class Real>
  Moments<Real> MomentsOf(const std::vector<Real>& x) const {
    const auto count =
        static_cast<double>(Is(Mutation::kPadded) ? (x.size() + 15) / 16 * 16 : x.size());
    Real mean(0.0);
    if (!Is(Mutation::kNotCentered)) {
      const Real sum = Sum(x);
      const ScopedStep at(Step::kCenter);
      mean = sum / Real(count);
    }
    std::vector<Real> squares;
    for (const Real& value : x) squares.push_back(SquareOf(value, mean));
    const Real sum = Sum(squares);
    const ScopedStep at(Step::kRsqrt);
    const double less = Is(Mutation::kUnbiased) ? std::max(1.0, count - 1) : count;
    Real variance = sum / Real(Is(Mutation::kSum) ? 1 : less);
    if (Is(Mutation::kOnePass)) {
      variance = Clamp(variance - mean * mean, Real(0.0), Real(kLargest));
    }
    return {Is(Mutation::kMeanKept) ? Real(0.0) : mean, DivisorOf(variance)};
  }
  template <class Real>
  Real SquareOf(const Real& value, const Real& mean) const {
    Real centered = value;
    if (!Is(Mutation::kOnePass)) {
      const ScopedStep at(Step::kCenter);
      centered = value - mean;
    }
    const ScopedStep at(Step::kSquare);
    return Is(Mutation::kDeviation) ? Sqrt(centered * centered) : centered * centered;
  }
  template <class Real>
  Real DivisorOf(const Real& variance) const {
    if (Is(Mutation::kDeviation)) return variance + Real(eps);
    if (Is(Mutation::kEpsOutside)) return Sqrt(variance) + Real(eps);
    if (Is(Mutation::kSquareOfRoot)) return variance + Real(eps);
    if (Is(Mutation::kEpsAsFloor)) return Sqrt(Clamp(variance, Real(eps), Real(kLargest)));
    return Sqrt(variance + Real(eps));
  }
  template <class Real>
  Real Element(const Real& x, const Moments<Real>& moments, const Real& weight,
               const Real& bias) const {
    Real y;
    {
      const ScopedStep at(Step::kCenter);
      y = x - moments.mean;
    }
    {
      const ScopedStep at(Step::kScale);
      y = y / moments.divisor;
    }
    const Real factor = Is(Mutation::kUnitOffset) ? Real(1.0) + weight : weight;
    if (Is(Mutation::kBiasFirst)) {
      const ScopedStep at(Step::kBias);
      return (y + bias) * factor;
    }
    {
      const ScopedStep at(Step::kWeigh);
      y = y * factor;
    }
    const ScopedStep at(Step::kBias);
    return y + bias;
  }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, const Tensor<Real>& bias,
                  Tensor<Real>& y) const {
    std::map<size_t, Moments<Real>> known;  // of populations
    for (size_t n = 0; n < x.shape[0]; ++n) {
      for (size_t j = 0; j < x.shape[1]; ++j) {
        const size_t unit = NumberOfPopulation(mutation, n, j);
        if (!known.contains(unit)) known.emplace(unit, MomentsOf(PopulationOf(mutation, x, n, j)));
        y(n, j) = Element(x(n, j), known.at(unit), weight(j), bias(j));
      }
    }
  }
};

MutationsOf<MutatedLayerNorm> Mutations() {
  using Mutation = MutatedLayerNorm::Mutation;
  return {
      {"one_pass",
       "the variance is E[x^2] - mean^2, which cancels for a large mean "
       "(tracel-ai/burn#5607, mlx#2246, apache/tvm#19643)",
       Mutation::kOnePass},
      {"variance_over_one_less", "the variance is the unbiased one, divided by M - 1",
       Mutation::kUnbiased},
      {"mean_not_subtracted", "x is divided by its root mean square, as in RMSNorm",
       Mutation::kNotCentered},
      {"mean_kept", "x is divided by its deviation, but the mean is not subtracted",
       Mutation::kMeanKept},
      {"eps_outside_the_root", "eps is outside the root: (x - mean) / (deviation + eps)",
       Mutation::kEpsOutside},
      {"eps_as_floor", "eps is a lower bound: max(variance, eps)", Mutation::kEpsAsFloor},
      {"root_missing", "the root is missing: (x - mean) / (variance + eps)",
       Mutation::kSquareOfRoot},
      {"mean_over_padding", "vector lanes beyond the end of the row count in the means",
       Mutation::kPadded},
      {"sum_for_mean", "the sum of squares is used instead of their mean", Mutation::kSum},
      {"absolute_deviation", "the mean of |x - mean| is used instead of the root",
       Mutation::kDeviation},
      {"unit_offset", "1 is added to the weight, as for weights stored minus 1",
       Mutation::kUnitOffset},
      {"bias_before_weight", "the bias is multiplied by the weight", Mutation::kBiasFirst},
      {"moments_of_first_row", "every row has the mean and variance of the first one",
       Mutation::kFirstRow, true},
      {"moments_down_the_columns", "mean and variance run down the columns", Mutation::kColumns,
       true},
      {"moments_of_all_rows", "all rows share one mean and one variance", Mutation::kWhole, true},
  };
}

std::vector<Defect> LayerNormInputDefects() {
  const auto reverse = [](Tensor<double>& t) { std::ranges::reverse(t.data); };
  return {
      FilledInput("weight_ignored", "1 is used instead of the weight", "weight", 1),
      MissingInput("bias_missing", "the bias is not added", "bias"),
      ChangedInput("weight_reversed", "the weight is in reverse order of the channels", "weight",
                   reverse),
      ChangedInput("bias_reversed", "the bias is in reverse order of the channels", "bias",
                   reverse),
      ExchangedInputs("weight_and_bias_swapped", "gamma and beta are swapped",
                      {{"weight", "bias"}}),
  };
}

std::vector<Defect> ChangedDefects() {
  return {
      ChangedWord("eps_of_tf_slim", "eps is always 1e-3", "eps=0.001"),
      ChangedRecipe("mean_in_bf16", "the mean and x - mean are stored in bf16", "center=bf16"),
      ChangedRecipe("bias_in_bf16", "the bias is added in bf16 for every dtype", "bias=bf16"),
  };
}

}  // namespace

std::vector<Defect> LayerNormDefects() {
  return Joined<Defect>({NormDefects(), MutatedFormulas<MutatedLayerNorm>(Mutations()),
                         LayerNormInputDefects(), ChangedDefects()});
}

}  // namespace sextant::oracle
