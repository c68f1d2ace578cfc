#include "reference/position/log_n_scale.h"

#include <algorithm>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/position/scale_properties.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "oracle/property/property.h"
#include "oracle/rope/angle_defects.h"
#include "reference/case/operation.h"

namespace sextant::oracle {
namespace {

double ContextOf(const Case& c) { return NumberOf(c, "original_max_position_embeddings", 0); }

// Up to L tokens, y equals q exactly.
Comparisons CheckShort(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors near = inputs;
  for (double& p : near[1].values.data) p = std::min(p, ContextOf(c) - 1);
  const Response y = ask(c, near);
  return EachEqual(y, [&](size_t i) { return inputs[0].values.data[i]; });
}

// ln(n L) = ln n + ln L, so factor(n L) = factor(n) + 1 for tokens n >= L, counted from 1.
Comparisons CheckLogNScaleProduct(const Case& c, const Tensors& inputs, const Ask& ask) {
  const double L = ContextOf(c);
  const auto beyond = [L](double p) { return std::max(p + 1, L); };
  const Response y = AskFactors(c, inputs, ask, [&](double p) { return beyond(p) - 1; });
  const Response far = AskFactors(c, inputs, ask, [&](double p) { return beyond(p) * L - 1; });
  return EachEqual(far, [&](size_t i) { return y(0, i) + 1; });
}

// The factor is at least 1 and does not decrease with the position.
Comparisons CheckLogNScaleRising(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = AskFactors(c, inputs, ask, [](double p) { return p; });
  const Response later = AskFactors(c, inputs, ask, [](double p) { return p + 1000; });
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(); ++i) {
    comparisons.AtMost(1, y(0, i), {y, 0, i});
    comparisons.AtMost(y(0, i), later(0, i), {later, 0, i});
  }
  return comparisons;
}

// The formula with one mutation.
struct MutatedLogN : LogNScale {
  enum class Mutation {
    kNone,
    kWithoutMaximum,  // early tokens are scaled down too
    kFromZero,        // ln p / ln L for p >= L
    kNotDivided,      // ln(p + 1)
    kOfRatio,         // 1 + ln((p + 1) / L)
    kInverted,        // ln L / ln(p + 1)
    kSquared,         // applied twice
    kByHead,          // the index of the head is used as the position
  } mutation{};

  template <class Real>
  Real Factor(double position) const {
    const ScopedStep at(Step::kFactor);
    const auto L = static_cast<double>(original_max_position_embeddings);
    const double n = mutation == Mutation::kFromZero ? position : position + 1;
    const bool applies = n > L || (mutation == Mutation::kWithoutMaximum && n > 0);
    if (!applies) return Real(1.0);
    const Real numerator = Log(Real(n)), denominator = Log(Real(L));
    const Real ratio = numerator / denominator;
    switch (mutation) {
      case Mutation::kNotDivided:
        return numerator;
      case Mutation::kOfRatio:
        return Real(1.0) + (numerator - denominator);
      case Mutation::kInverted:
        return denominator / numerator;
      case Mutation::kSquared:
        return ratio * ratio;
      default:
        return ratio;
    }
  }
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<double>& position, Tensor<Real>& y) const {
    ScaleByFactor(*this, mutation == Mutation::kByHead, q, position, y);
  }
};

std::vector<Defect> LogNScaleFormulaDefects() {
  using Mutation = MutatedLogN::Mutation;
  return MutatedFormulas<MutatedLogN>({
      {"without_maximum", "tokens within the context are scaled down", Mutation::kWithoutMaximum},
      {"counted_from_zero",
       "the factor is ln p / ln L with p from 0 (ztxz16/fastllm, src/models/qwen.cpp)",
       Mutation::kFromZero},
      {"not_divided", "the factor is ln(p + 1), not divided by ln L", Mutation::kNotDivided},
      {"logarithm_of_ratio", "the factor is 1 + ln((p + 1) / L), as in temperature scaling",
       Mutation::kOfRatio},
      {"inverted", "queries are divided by the factor instead of multiplied", Mutation::kInverted},
      {"applied_twice", "the factor is applied to queries and again to scores", Mutation::kSquared},
      {"indexed_by_head", "the factor is indexed by head instead of position", Mutation::kByHead,
       true},
  });
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<LogNScale>() {
  return {
      .properties = Joined<Property>(
          {PropertiesOfFactors(),
           {{"short_texts_pass", "tokens within the context do not change", CheckShort},
            {"factor_counts_contexts", "at L times the position the factor is larger by 1",
             CheckLogNScaleProduct},
            {"monotone", "the factor is at least 1 and never decreases", CheckLogNScaleRising}}}),
      // The factor is 1 at negative positions and at position 0.
      .defects = Joined<Defect>({RemoveDefects({"negative_position_clamped"}, PositionDefects()),
                                 FactorDefects(), LogNScaleFormulaDefects()})};
}

}  // namespace sextant::oracle
