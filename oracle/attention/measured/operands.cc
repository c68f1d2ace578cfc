#include "oracle/attention/measured/operands.h"

#include <algorithm>
#include <cmath>

#include "oracle/attention/measured/score_fit.h"
#include "oracle/diagnosis/attributes.h"
#include "oracle/diagnosis/choices.h"
#include "oracle/diagnosis/input/input_changes.h"
#include "reference/number/recipe/rounding_units.h"
#include "reference/rope/rope_attributes.h"

namespace sextant::oracle {
namespace {

// Scores with errors of so many roundings are right. Models that leave less than so many times the
// least are as good; so many of them are given.
constexpr double kBetterOperand = 4;
constexpr size_t kMostEqual = 4;
// All models together may need so many products of scores.
constexpr size_t kMostOperandProducts = size_t{1} << 26;

// The part of the variance of log weights that the model leaves; infinite if it does not fit.
double LeftBy(const Case& c, const Hypothesis& model, AskedWeights weights) {
  const auto fit = FitScores(PlainAttention(c, model), c.dtype(), weights);
  return fit ? fit->left() : kInfinity;
}

size_t ProductsOf(const Case& c) {
  const AttentionSizes n(c);
  return SampledRows(n, 0).size() * n.H * n.T * ExtentOf(c, "D");
}

// Each row is divided by its length, or by the root of its mean square.
void NormRows(Tensor<double>& x, bool is_unit) {
  const size_t D = RowWidth(x.shape);
  for (size_t first = 0; first < x.data.size() && D > 0; first += D) {
    double squares = 0;
    for (size_t d = 0; d < D; ++d) squares += x.data[first + d] * x.data[first + d];
    const double length = std::sqrt(is_unit ? squares : squares / static_cast<double>(D));
    for (size_t d = 0; d < D && length > 0; ++d) x.data[first + d] /= length;
  }
}

}  // namespace

std::vector<Deviation> RotationDeviations(const Case& c, const Tensors& inputs) {
  if (!HasInput(inputs, "position_q")) return {};
  std::vector<Deviation> rotations = AndAttributes({}, c, inputs);
  const auto own = AttributesOf(RopeAttributes());
  std::erase_if(rotations, [&](const Deviation& deviation) {
    const bool is_own = std::ranges::count(own, deviation.factor, &Attribute::name) > 0;
    return !is_own && !HasInput(inputs, deviation.factor);
  });
  return rotations;
}

std::vector<Deviation> BiasChanges(const Case& c, const Tensors& inputs) {
  if (!HasInput(inputs, "bias")) return {};
  std::vector<Deviation> changes = InputChanges(c, inputs);
  std::erase_if(changes, [](const Deviation& change) { return change.factor != "bias"; });
  return changes;
}

Deviation NormedOperands() {
  std::vector<Choice> choices;
  const auto add = [&](const std::string& which, const std::vector<size_t>& inputs, bool is_unit) {
    const std::string by = is_unit ? "by their lengths" : "by the roots of their mean squares";
    choices.push_back({which + " are divided " + by + " (as QK-norm)",
                       [=](const Hypothesis& base) -> std::optional<Hypothesis> {
                         Hypothesis model = base;
                         for (const size_t i : inputs) {
                           Tensor<double>& x = model.inputs[i].values;
                           NormRows(x, is_unit);
                         }
                         return model;
                       }});
  };
  for (const bool is_unit : {false, true}) {
    add("queries and keys", {0, 1}, is_unit);
    add("keys", {1}, is_unit);
    add("queries", {0}, is_unit);
  }
  return OneOf("operands_normed", "operands", choices);
}

std::vector<Explanation> OtherOperands(const Case& c, const Hypothesis& base,
                                       const AskedWeights& weights,
                                       const std::vector<Deviation>& deviations) {
  struct Screened {
    Explanation explanation;
    double left;
  };
  const double of_base = LeftBy(c, base, weights),
               error = kBetterOperand * UnitRoundoffOf(c.dtype());
  if (of_base <= error * error) return {};  // parts of variances
  std::vector<Screened> screened;
  double least = kInfinity;
  size_t models = 0;
  for (const Deviation& deviation : deviations) {
    for (const NamedValue& value : deviation.values) {
      if (++models * ProductsOf(c) > kMostOperandProducts) break;
      const auto model = deviation.changed(base, value.value);
      if (!model) continue;
      const double left = LeftBy(c, *model, weights);
      if (!(left <= kBetterOperand * least)) continue;
      least = std::min(least, left);
      const std::string number = value.text.empty() ? PrintValue(value.value) : value.text;
      screened.push_back({{deviation.name, deviation.sentence(number), *model}, left});
    }
  }
  std::erase_if(screened, [&](const Screened& one) { return one.left > kBetterOperand * least; });
  if (!(least * kBetterOperand < of_base)) screened.clear();
  std::vector<Explanation> others;
  for (Screened& one : screened)
    if (others.size() < kMostEqual) others.push_back(std::move(one.explanation));
  return others;
}

}  // namespace sextant::oracle
