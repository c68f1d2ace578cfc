#include "reference/position/temperature_scale.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/position/scale_properties.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "oracle/rope/angle_defects.h"
#include "reference/case/operation.h"

namespace sextant::oracle {
namespace {

// The steps of a case: the positions from n scale - start on, `scale` of them, are step n.
struct Steps {
  explicit Steps(const Case& c)
      : scale(NumberOf(c, "floor_scale", 1)), start(NumberOf(c, "start", 1)) {}
  double Of(double position) const { return std::max(0.0, std::floor((position + start) / scale)); }
  double First(double n) const { return n * scale - start; }

  double scale, start;
};

// The first floor_scale tokens equal q exactly.
Comparisons CheckFirst(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Steps steps(c);
  Tensors near = inputs;
  for (double& p : near[1].values.data) {
    p = std::clamp(p, -steps.start, steps.First(1) - 1);
  }
  const Response y = ask(c, near);
  return EachEqual(y, [&](size_t i) { return inputs[0].values.data[i]; });
}

// All tokens of a step have the factor of its first and of its last token.
Comparisons CheckTemperatureScaleStep(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Steps steps(c);
  const auto inside = [&](double p) { return std::max(p, -steps.start); };
  const Response y = AskFactors(c, inputs, ask, inside);
  const Response first =
      AskFactors(c, inputs, ask, [&](double p) { return steps.First(steps.Of(p)); });
  const Response last =
      AskFactors(c, inputs, ask, [&](double p) { return steps.First(steps.Of(p) + 1) - 1; });
  Comparisons comparisons;
  ExpectEqual(y, first, comparisons);
  ExpectEqual(y, last, comparisons);
  return comparisons;
}

// ln((1 + m) (1 + n)) = ln(1 + m) + ln(1 + n); here m = 3.
Comparisons CheckTemperatureScaleProduct(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Steps steps(c);
  const auto at = [&](const std::function<double(double)>& change) {
    return AskFactors(c, inputs, ask, [&](double p) { return steps.First(change(steps.Of(p))); });
  };
  const Response n = at([](double k) { return k; }), m = at([](double) { return 3; }),
                 both = at([](double k) { return 4 * (1 + k) - 1; });
  Comparisons comparisons;
  for (size_t i = 0; i < n.size(); ++i) {
    comparisons.Equal(both(0, i) + 1, n(0, i) + m(0, i), {both, 0, i});
  }
  return comparisons;
}

// Doubling beta doubles the difference of the factor from 1.
Comparisons CheckBeta(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Steps steps(c);
  const auto inside = [&](double p) { return std::max(p, -steps.start); };
  const Response y = AskFactors(c, inputs, ask, inside);
  const Response twice =
      AskFactors(c.With("beta=" + PrintValue(2 * NumberOf(c, "beta", 0))), inputs, ask, inside);
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(); ++i) {
    comparisons.Equal(twice(0, i) + 1, y(0, i) * 2, {twice, 0, i});
  }
  return comparisons;
}

// The factor of a step is at least that of the step before.
Comparisons CheckTemperatureScaleRising(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Steps steps(c);
  const Response y = AskFactors(c, inputs, ask, [&](double p) { return steps.First(steps.Of(p)); });
  const Response next =
      AskFactors(c, inputs, ask, [&](double p) { return steps.First(steps.Of(p) + 1); });
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(); ++i) {
    comparisons.AtMost(1, y(0, i), {y, 0, i});
    comparisons.AtMost(y(0, i), next(0, i), {next, 0, i});
  }
  return comparisons;
}

// The formula with one mutation.
struct MutatedTemperature : TemperatureScale {
  enum class Mutation {
    kNone,
    kWithoutFloor,    // the factor rises with every token
    kRounded,         // steps are rounded to nearest
    kCeiling,         // steps are rounded up
    kWithoutOne,      // beta ln(...), without 1 +
    kLogarithmOfN,    // ln n instead of ln(1 + n)
    kBinary,          // log2
    kWholeTimesBeta,  // 1 + ln(1 + beta n)
    kSquared,         // applied twice
    kInverted,        // q is divided
    kByHead,          // the index of the head is used as the position
  } mutation{};

  template <class Real>
  Real Count(double position) const {
    const double tokens = position + static_cast<double>(start),
                 scale = static_cast<double>(floor_scale);
    if (mutation == Mutation::kWithoutFloor) return Real(tokens) / Real(scale);
    if (mutation == Mutation::kRounded) return Real(std::nearbyint(tokens / scale));
    if (mutation == Mutation::kCeiling) return Real(std::ceil(tokens / scale));
    return Real(static_cast<double>(Steps(position)));
  }
  template <class Real>
  Real Factor(double position) const {
    const ScopedStep at(Step::kFactor);
    const Real n = Count<Real>(position), one(1.0);
    if (mutation == Mutation::kWholeTimesBeta) return one + Log(one + Real(beta) * n);
    if (mutation == Mutation::kLogarithmOfN) {
      return Steps(position) == 0 ? one : one + Real(beta) * Log(n);
    }
    Real logarithm = Log(one + n);
    if (mutation == Mutation::kBinary) logarithm = logarithm / Log(Real(2.0));
    if (mutation == Mutation::kWithoutOne) return Real(beta) * logarithm;
    const Real factor = one + Real(beta) * logarithm;
    if (mutation == Mutation::kSquared) return factor * factor;
    return mutation == Mutation::kInverted ? one / factor : factor;
  }
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<double>& position, Tensor<Real>& y) const {
    ScaleByFactor(*this, mutation == Mutation::kByHead, q, position, y);
  }
};

std::vector<Defect> TemperatureScaleFormulaDefects() {
  using Mutation = MutatedTemperature::Mutation;
  return MutatedFormulas<MutatedTemperature>({
      {"without_floor", "the factor rises with every token instead of in steps",
       Mutation::kWithoutFloor},
      {"rounded_to_nearest", "steps are rounded to nearest instead of down", Mutation::kRounded},
      {"rounded_up", "steps are rounded up instead of down", Mutation::kCeiling},
      {"without_one", "the factor is beta ln(1 + n), without adding 1", Mutation::kWithoutOne},
      {"logarithm_of_n", "ln n is used instead of ln(1 + n)", Mutation::kLogarithmOfN},
      {"binary_logarithm", "log2 is used instead of ln", Mutation::kBinary},
      {"beta_inside", "the factor is 1 + ln(1 + beta n): beta is inside the logarithm",
       Mutation::kWholeTimesBeta},
      {"applied_twice", "the factor is applied to queries and again to scores", Mutation::kSquared},
      {"inverted", "queries are divided by the factor, as by a temperature", Mutation::kInverted},
      {"indexed_by_head", "the factor is indexed by head instead of position", Mutation::kByHead,
       true},
  });
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<TemperatureScale>() {
  return {
      .properties = Joined<Property>(
          {PropertiesOfFactors(),
           {{"first_step_passes", "the first floor_scale tokens do not change", CheckFirst},
            {"constant_in_steps", "all tokens of a step have the same factor",
             CheckTemperatureScaleStep},
            {"factors_add",
             "the factors of m and n steps add up to 1 more than that of (1 + m) (1 + n) - 1 steps",
             CheckTemperatureScaleProduct},
            {"beta_multiplies", "doubling beta doubles the difference from 1", CheckBeta},
            {"rises_by_steps", "the factor is at least 1 and does not decrease from step to step",
             CheckTemperatureScaleRising}}}),
      .defects =
          Joined<Defect>({PositionDefects(), FactorDefects(), TemperatureScaleFormulaDefects()})};
}

}  // namespace sextant::oracle
