#include "reference/layer/activation.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/measured/activation.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "reference/rope/scaling_setting.h"

namespace sextant::oracle {
namespace {

// The minimum of x / (1 + e^-x): its place, -1 - W(1/e), and its value, -W(1/e), with Lambert's
// function W. Both are rounded to the nearest double.
constexpr double kLowestAt = -1.2784645427610738, kLowest = -0.27846454276107380;

ActivationKind ActivationKindOf(const Case& c) {
  ActivationKind kind{};
  ParseValue(TextOf(c, "kind"), kind);
  return kind;
}
bool IsSwish(const Case& c) { return ActivationKindOf(c) == ActivationKind::kSwish; }
double BetaOf(const Case& c) { return NumberOf(c, "beta", 1); }

// f(x) + f(-x) is 1 for sigmoid and 0 for tanh. f(x) - f(-x) is x |x| for relu2 and x for all
// others, which multiply x by a weight between 0 and 1.
Comparisons CheckMirror(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs), mirrored = ask(c, Multiplied(inputs, {"x"}, -1));
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(); ++i) {
    const double x = inputs[0].values.data[i];
    const Measured a = y(0, i), b = mirrored(0, i);
    switch (ActivationKindOf(c)) {
      case ActivationKind::kSigmoid:
        comparisons.Equal(a + b, 1, {y, 0, i});
        break;
      case ActivationKind::kTanh:
        comparisons.Equal(a, -b, {y, 0, i});
        break;
      case ActivationKind::kRelu2:
        comparisons.Equal(a - b, Measured(x) * std::abs(x), {y, 0, i});
        break;
      default:
        comparisons.Equal(a - b, x, {y, 0, i});
    }
  }
  return comparisons;
}

// max(x, 0) - swish(x) lies between 0 and -kLowest / beta.
Comparisons CheckNearRelu(const Case& c, const Tensors& inputs, const Ask& ask) {
  const double beta = BetaOf(c);
  if (!IsSwish(c) || beta <= 0) return {};
  const Response y = ask(c, inputs);
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(); ++i) {
    const Measured below = Measured(std::max(0.0, inputs[0].values.data[i])) - y(0, i);
    comparisons.AtMost(0, below, {y, 0, i});
    comparisons.AtMost(below * beta, std::nextafter(-kLowest, 1), {y, 0, i});
  }
  return comparisons;
}

// Checks swish at the place of its minimum, rounded to the dtype. At distance d from it swish is
// larger by at most beta d^2 / 4, because its second derivative is at most beta / 2; beta times
// swish is larger by at most (beta d)^2 / 4. Left and right of it swish is not smaller.
Comparisons CheckLowest(const Case& c, const Tensors& inputs, const Ask& ask) {
  const double beta = BetaOf(c);
  if (!IsSwish(c) || beta <= 0 || inputs[0].values.data.empty()) return {};
  const double at = RoundTo(inputs[0].dtype, kLowestAt / beta);
  const Response y = ask(c, Filled(inputs, {"x"}, at));
  const Response y_left = ask(c, Filled(inputs, {"x"}, 4 * at));
  const Response y_right = ask(c, Filled(inputs, {"x"}, at / 4));
  const Measured off = Measured(at) * beta - Nearest(kLowestAt), square = off * off * 0.25;
  const Measured lowest = Nearest(kLowest) + Measured(0, square.value() + square.error());
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(); ++i) {
    comparisons.Equal(y(0, i) * beta, lowest, {y, 0, i});
    comparisons.AtMost(y(0, i), y_left(0, i), {y, 0, i});
    comparisons.AtMost(y(0, i), y_right(0, i), {y, 0, i});
  }
  return comparisons;
}

// swish of 2 x and beta is twice swish of x and 2 beta.
Comparisons CheckBeta(const Case& c, const Tensors& inputs, const Ask& ask) {
  if (!IsSwish(c)) return {};
  Comparisons comparisons;
  ExpectProportional(ask(c, Multiplied(inputs, {"x"}, 2)), 2,
                     ask(Multiplied(c, "beta", 2, 1), inputs), comparisons);
  return comparisons;
}

// For monotone kinds a larger x gives no smaller y.
Comparisons CheckMonotone(const Case& c, const Tensors& inputs, const Ask& ask) {
  const ActivationKind kind = ActivationKindOf(c);
  if (kind == ActivationKind::kSwish || kind == ActivationKind::kGelu ||
      kind == ActivationKind::kGeluTanh) {
    return {};
  }
  return Monotone(c, inputs, ask);
}

// The formula with one mutation.
struct MutatedActivation : Activation {
  enum class Mutation {
    kNone,
    kHard,       // piecewise linear: clip((x + 3) / 6, 0, 1)
    kClipped,    // ReLU6
    kLeaky,      // a slope of 1/100 below 0
    kBetaAfter,  // x sigmoid(x) beta
    kCubic,      // 0.44715
    kConstant,   // sqrt(pi / 2)
    kInF32,      // sqrt(2 / pi) and 0.044715, with 2 / pi and 0.044715 rounded to f32
    kShort,      // 0.797885 and 0.035677, their product, for the factors of x and x^3
    kNotHalved,  // x (1 + erf ...)
    kUnscaled,   // erf(x)
    kOfSquare,   // relu of x^2, which is x^2
    kByTanh,     // (1 + tanh(x / 2)) / 2 for the sigmoid
    kOverflows,  // e^x / (1 + e^x), or tanh by both exponentials
    kTable,      // f16 numbers at x rounded to f16; gelu is 0 or x beyond -10 and 10
    kNotFirst,   // the first element of every row is not activated
  } mutation{};

  template <class Real>
  Real Hard(const Real& x) const {
    return Clamp((x + Real(3.0)) / Real(6.0), Real(0.0), Real(1.0));
  }
  template <class Real>
  Real WrongSigmoid(const Real& x) const {
    if (mutation == Mutation::kByTanh) return Real(0.5) * (Real(1.0) + Tanh(Real(0.5) * x));
    const Real e = Exp(x);
    return e / (Real(1.0) + e);
  }
  // x in f16, then the function in f16.
  template <class Real>
  Real FromTable(double x) const {
    const ScopedStep at(Step::kActivation);
    constexpr double kCutOff = 10;
    const bool is_gelu = kind == ActivationKind::kGelu || kind == ActivationKind::kGeluTanh;
    if (is_gelu && x >= kCutOff) return Real(x);
    if (is_gelu && x <= -kCutOff) return Real(0.0);
    const Real read(RoundTo(DType::kF16, x));
    return ConvertedTo(DType::kF16, ActivationFunction<Real>(kind, beta)(read));
  }
  template <class Real>
  Real Of(const Real& x) const {
    const ScopedStep at(Step::kActivation);
    const Real one(1.0), half(0.5);
    switch (mutation) {
      case Mutation::kHard:
        return kind == ActivationKind::kSwish ? x * Hard(x) : Hard(x);
      case Mutation::kClipped:
        return Clamp(x, Real(0.0), Real(6.0));
      case Mutation::kLeaky:
        return Relu(x) - Relu(-x) / Real(100.0);
      case Mutation::kBetaAfter:
        return x * Sigmoid(x) * Real(beta);
      case Mutation::kCubic:
      case Mutation::kConstant: {
        const Real k(mutation == Mutation::kCubic ? 0.44715 : 0.044715);
        const Real half_pi = TwoPi<Real>() / Real(4.0);
        const Real root = mutation == Mutation::kConstant ? Sqrt(half_pi) : one / Sqrt(half_pi);
        return half * x * (one + Tanh(root * (x + k * x * x * x)));
      }
      case Mutation::kInF32:
        return half * x *
               (one + Tanh(Sqrt(Real(0x1.45f306p-1)) * (x + Real(0x1.6e4e26p-5) * x * x * x)));
      case Mutation::kShort:
        return half * x * (one + Tanh(x * (Real(0.797885) + Real(0.035677) * x * x)));
      case Mutation::kNotHalved:
        return x * (one + Erf(x * Sqrt(half)));
      case Mutation::kUnscaled:
        return half * x * (one + Erf(x));
      case Mutation::kByTanh:
      case Mutation::kOverflows:
        if (kind == ActivationKind::kTanh) return (Exp(x) - Exp(-x)) / (Exp(x) + Exp(-x));
        return kind == ActivationKind::kSwish ? x * WrongSigmoid(Real(beta) * x) : WrongSigmoid(x);
      default:
        return x * x;
    }
  }
  template <class Real>
  void operator()(const Tensor<double>& x, Tensor<Real>& y) const {
    const ActivationFunction<Real> right(kind, beta);
    const bool of_first_alone = mutation == Mutation::kNone || mutation == Mutation::kNotFirst;
    for (size_t i = 0; i < x.data.size(); ++i) {
      const bool passes = mutation == Mutation::kNotFirst && i % x.shape[1] == 0;
      const Real number(x.data[i]);
      y.data[i] = passes                         ? number
                  : mutation == Mutation::kTable ? FromTable<Real>(x.data[i])
                  : of_first_alone               ? right(number)
                                                 : Of(number);
    }
  }
};

// The defects of mutations, for cases of these kinds only.
std::vector<Defect> OfKinds(const std::vector<ActivationKind>& kinds,
                            const MutationsOf<MutatedActivation>& mutations) {
  std::vector<Defect> defects = MutatedFormulas<MutatedActivation>(mutations);
  for (Defect& defect : defects) {
    defect.hypothesis = [any = defect.hypothesis, kinds](
                            const Case& c, const Tensors& inputs,
                            const Recipe& recipe) -> std::optional<Hypothesis> {
      if (std::ranges::find(kinds, ActivationKindOf(c)) == kinds.end()) return std::nullopt;
      return any(c, inputs, recipe);
    };
  }
  return defects;
}

std::vector<Defect> ActivationFormulaDefects() {
  using Kind = ActivationKind;
  using Mutation = MutatedActivation::Mutation;
  return Joined<Defect>({
      OfKinds(
          {Kind::kSwish, Kind::kSigmoid},
          {{"hard", "the sigmoid is piecewise linear: clip((x + 3) / 6, 0, 1)", Mutation::kHard}}),
      OfKinds({Kind::kRelu}, {{"relu6", "y is clipped at 6", Mutation::kClipped},
                              {"leaky", "y has a slope of 1/100 below 0", Mutation::kLeaky}}),
      OfKinds({Kind::kSwish}, {{"beta_after", "y is x sigmoid(x) beta", Mutation::kBetaAfter}}),
      OfKinds(
          {Kind::kGeluTanh},
          {{"cubic_of_0.44715", "the coefficient is 0.44715 instead of 0.044715", Mutation::kCubic},
           {"root_of_half_pi", "the factor is sqrt(pi / 2) instead of sqrt(2 / pi)",
            Mutation::kConstant},
           {"constants_in_f32",
            "2 / pi, of which the root is taken, and 0.044715 are numbers of f32 (ONNX Runtime's "
            "Gelu)",
            Mutation::kInF32},
           {"constants_of_six_digits",
            "the factors of x and x^3 are 0.797885 and 0.035677 (ONNX Runtime's FastGelu)",
            Mutation::kShort}}),
      OfKinds({Kind::kGelu},
              {{"not_halved", "y is x (1 + erf), twice the correct value", Mutation::kNotHalved},
               {"erf_of_x", "erf(x) is used instead of erf(x / sqrt 2)", Mutation::kUnscaled}}),
      OfKinds({Kind::kSigmoid, Kind::kSwish}, {{"sigmoid_by_tanh",
                                                "the sigmoid is (1 + tanh(x / 2)) / 2 or another "
                                                "sum with 1 / 2, which loses all digits "
                                                "far below 0",
                                                Mutation::kByTanh}}),
      OfKinds({Kind::kSigmoid, Kind::kSwish, Kind::kTanh},
              {{"exponential_overflows",
                "the sigmoid is e^x / (1 + e^x), or tanh uses both exponentials: NaN for large x",
                Mutation::kOverflows}}),
      MutatedFormulas<MutatedActivation>(
          {{"first_not_activated", "the loop starts at the second channel of a row",
            Mutation::kNotFirst, true},
           {"table_of_f16",
            "x is rounded to f16, and the function is read from a table of f16 "
            "numbers; beyond -10 and 10, gelu is 0 and x (ggml)",
            Mutation::kTable}}),
      OfKinds({Kind::kRelu2},
              {{"square_alone", "y is x^2 instead of max(x, 0)^2", Mutation::kOfSquare}}),
  });
}

std::vector<Defect> ActivationOtherDefects() {
  return {
      ChangedWord("quick_gelu", "x sigmoid(1.702 x) is used instead of gelu",
                  [](const Case& c) {
                    const ActivationKind kind = ActivationKindOf(c);
                    const bool gelu =
                        kind == ActivationKind::kGelu || kind == ActivationKind::kGeluTanh;
                    return gelu ? "kind=swish beta=1.702" : "";
                  }),
      ChangedRecipe("in_bf16", "the activation is computed in bf16 for every dtype",
                    "activation=bf16"),
      ChangedRecipe("in_f16", "the activation is computed in f16 for every dtype",
                    "activation=f16"),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Activation>() {
  return {.properties =
              {{"mirrored", "f(-x) follows from f(x) by the symmetry of the function", CheckMirror},
               {"near_relu", "swish is below max(x, 0) by at most 0.2785 / beta", CheckNearRelu},
               {"falls_and_rises", "swish has its minimum at -1.2785 / beta", CheckLowest},
               {"beta_scales", "swish of 2 x and beta is twice swish of x and 2 beta", CheckBeta},
               {"monotone", "sigmoid, tanh and rectifiers never decrease", CheckMonotone}},
          .defects = Joined<Defect>({ActivationFormulaDefects(), ActivationOtherDefects()}),
          .measurements = ActivationMeasurements()};
}

}  // namespace sextant::oracle
