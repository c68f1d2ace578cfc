#include "oracle/position/measured/alibi.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "oracle/diagnosis/attributes.h"
#include "oracle/diagnosis/choices.h"
#include "oracle/diagnosis/input/input_changes.h"
#include "oracle/position/measured/alibi_factors.h"
#include "oracle/position/measured/masked_keys.h"
#include "oracle/position/measured/slope_exponents.h"
#include "oracle/property/changed_inputs.h"
#include "reference/number/real.h"
#include "reference/position/alibi.h"
#include "reference/position/alibi_slopes.h"

namespace sextant::oracle {
namespace {

// The slopes of another base, times a factor.
struct ByBase : AlibiSlopes {
  double base = 2, factor = 1;
  std::vector<double> exponents{};  // of all heads; empty: those of the formula
  template <class Real>
  void operator()(Tensor<Real>& slope) const {
    const auto H = static_cast<int64_t>(slope.shape[0]);
    for (int64_t h = 0; h < H; ++h) {
      const SlopeExponent e = ExponentOf(h, H);
      Real part;
      {
        const ScopedStep at(Step::kExponent);
        part = exponents.empty() ? Real(max_bias) * Real(static_cast<double>(e.numerator)) /
                                       Real(static_cast<double>(e.denominator))
                                 : Real(exponents[static_cast<size_t>(h)]);
      }
      const ScopedStep at(Step::kSlope);
      slope(h) = Real(factor) * Exp(-(part * Log(Real(base))));
    }
  }
};

// The slopes of a hypothesis, to which others are added.
ByBase ByBaseOf(const Hypothesis& of) {
  if (const auto* other = dynamic_cast<const TypedOperation<ByBase>*>(of.operation.get()))
    return other->op();
  ByBase slopes;
  for (const Attribute& attribute : of.operation->Attributes())
    SetAttribute(slopes, AlibiSlopes::kName, attribute.name, attribute.text);
  return slopes;
}
Hypothesis With(const ByBase& slopes, const Hypothesis& of) {
  return {std::make_shared<Wrapped<ByBase, false>>(slopes), of.inputs, of.recipe};
}

Deviation OfByBase(const char* name, double ByBase::*member, std::vector<NamedValue> likely,
                   const std::function<std::string(const std::string&)>& sentence) {
  const double right = ByBase().*member;
  return {.name = name,
          .factor = name,
          .values = std::move(likely),
          .right = right,
          .changed = [member](const Hypothesis& of, double number) -> std::optional<Hypothesis> {
            ByBase changed = ByBaseOf(of);
            changed.*member = number;
            if (!(changed.base > 0)) return std::nullopt;
            return With(changed, of);
          },
          .sentence = sentence};
}

// The heads have the slopes of other exponents.
Deviation ExponentsOfHeads(const Case& c) {
  const size_t H = ExtentOf(c, "H");
  const double max_bias = NumberOf(c, "max_bias", 8);
  std::vector<double> right;
  for (size_t h = 0; h < H; ++h) {
    const SlopeExponent e =
        AlibiSlopes::ExponentOf(static_cast<int64_t>(h), static_cast<int64_t>(H));
    right.push_back(max_bias * static_cast<double>(e.numerator) /
                    static_cast<double>(e.denominator));
  }
  std::vector<Choice> choices;
  for (const NamedExponents& other : OtherExponents(right, max_bias)) {
    if (H == 0 || other.of == right) continue;
    choices.push_back({"head h has the slope 2^-e, where the exponents e are " + other.text,
                       [of = other.of](const Hypothesis& base) -> std::optional<Hypothesis> {
                         ByBase changed = ByBaseOf(base);
                         changed.exponents = of;
                         return With(changed, base);
                       }});
  }
  return OneOf("exponents_changed", "exponents", choices);
}

}  // namespace

std::vector<Explanation> MeasureBias(const Observation& seen) {
  std::vector<Explanation> found =
      FittedTo(seen, RightOf(seen),
               AndAttributes({InputFactor(seen.inputs, "slope", "every slope is multiplied by")},
                             seen.c, seen.inputs));
  if (found.empty()) found = MeasureMaskedKeys(seen);
  return found.empty() ? MeasureFactorsOfBias(seen) : found;
}

std::vector<Explanation> MeasureSlopes(const Observation& seen) {
  const std::vector<Deviation> own = {
      OfByBase("base_changed", &ByBase::base,
               {{3}, {4}, {std::numbers::e, "2.718282 = e"}, {10}, {1.5}, {std::numbers::sqrt2}},
               [](const std::string& number) {
                 return "slopes are powers of the base " + number + ", expected 2";
               }),
      OfByBase("slopes_multiplied", &ByBase::factor, {{2}, {0.5}, {-1}, {0.125}},
               [](const std::string& number) { return "every slope is multiplied by " + number; })};
  return FittedTo(seen, RightOf(seen), AndAttributes(own, seen.c, seen.inputs),
                  {ExponentsOfHeads(seen.c)});
}

}  // namespace sextant::oracle
