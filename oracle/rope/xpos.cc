#include "reference/rope/xpos.h"

#include <cmath>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "oracle/rope/angle_defects.h"
#include "oracle/rope/decoding_property.h"
#include "oracle/rope/measured/rotation.h"
#include "oracle/rope/rotary_defects.h"
#include "oracle/rope/rotary_properties.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

Measured Square(const Measured& a) { return a * a; }

// The factor of queries is the divisor of keys: y_q . y_k = x . x in every pair.
Comparisons CheckReciprocal(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Window window(c);
  const Response q = ask(c.With("role=query"), inputs), k = ask(c.With("role=key"), inputs);
  const auto x = [&](size_t i) { return Measured(inputs[0].values.data[i]); };
  Comparisons comparisons;
  for (size_t r = 0; r < window.rows; ++r) {
    for (size_t pair = 0; pair < window.pairs; ++pair) {
      const auto [i, j] = window.Pair(r, pair);
      comparisons.Equal(q(0, i) * k(0, i) + q(0, j) * k(0, j), Square(x(i)) + Square(x(j)),
                        {q, 0, i});
    }
  }
  return comparisons;
}

// The score of the query in row r with the key in row r + 1.
struct Scores {
  Response q, k;
  Measured operator()(const Window& window, size_t r) const {
    Measured score = 0;
    for (size_t channel = 0; channel < window.width; ++channel) {
      score = score + q(0, window.Row(r) + channel) * k(0, window.Row(r + 1) + channel);
    }
    return score;
  }
};
Scores ScoresOf(const Case& c, const Tensors& inputs, const Ask& ask) {
  return {ask(c.With("role=query"), inputs), ask(c.With("role=key"), inputs)};
}

Comparisons SameScores(const Case& c, const Scores& a, const Scores& b) {
  const Window window(c);
  const size_t length = ExtentOf(c, "S");
  Comparisons comparisons;
  for (size_t r = 0; r < window.rows; ++r) {
    if (r % length + 1 < length) {
      comparisons.Equal(a(window, r), b(window, r), {a.q, 0, window.Row(r)});
    }
  }
  return comparisons;
}

Comparisons CheckXposDistance(const Case& c, const Tensors& inputs, const Ask& ask) {
  const auto shifted = Mapped(inputs, "position", [](double p) { return p + 1000; });
  return SameScores(c, ScoresOf(c, inputs, ask), ScoresOf(c, shifted, ask));
}

Comparisons CheckCenter(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Case other = c.With("center=" + PrintValue(NumberOf(c, "center", 0) + 100));
  return SameScores(c, ScoresOf(c, inputs, ask), ScoresOf(other, inputs, ask));
}

Comparisons CheckXposRope(const Case& c, const Tensors& inputs, const Ask& ask) {
  const double center = NumberOf(c, "center", 0);
  const Tensors there = Mapped(inputs, "position", [center](double) { return center; });
  const Case rope = AsRope(c);
  Tensors plain = DrawInputs(rope);
  plain[0].values = there[0].values;
  plain[1].values = there[1].values;
  const Response here = ask(c, there), rotated = ask(rope, plain);
  Comparisons comparisons;
  ExpectEqual(here, rotated, comparisons);
  return comparisons;
}

// At scale_base tokens from the centre: |y| (1 + gamma) R = |x| (2k + gamma R).
Comparisons CheckDecay(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Window window(c);
  const double at = NumberOf(c, "center", 0) + NumberOf(c, "scale_base", 0);
  const Response y =
      ask(c.With("role=query"), Mapped(inputs, "position", [at](double) { return at; }));
  const Measured gamma = NumberOf(c, "gamma", 0), R = 2.0 * static_cast<double>(window.pairs);
  Comparisons comparisons;
  if (at != std::floor(at)) return comparisons;
  window.ForEachPair([&](size_t, size_t k, size_t i, size_t j) {
    const auto x = [&](size_t n) { return Measured(inputs[0].values.data[n]); };
    comparisons.Equal(
        (Square(y(0, i)) + Square(y(0, j))) * Square((gamma + 1) * R),
        (Square(x(i)) + Square(x(j))) * Square(gamma * R + 2.0 * static_cast<double>(k)),
        {y, 0, i});
  });
  return comparisons;
}

// The formula with one mutation. Members with their default values change nothing.
struct MutatedXpos : Xpos {
  RotaryMutation mutation;
  enum class Growth {
    kRight,
    kNone,             // rope
    kTwice,            // z^2t
    kOtherPattern,     // laid out over the channels for the other pairing
    kOfHeadWidth,      // 2k/D
    kWithoutTwo,       // k/R
    kNotNormalised,    // 2k/R + gamma
    kOnCosOnly,        // sin is not multiplied
    kNotDivided,       // z^(p - center)
    kWholeDistance,    // z^floor((p - center) / scale_base)
    kAbsoluteDistance  // |p - center|: older tokens decay too
  } growth{};

  template <class Real>
  Real FactorOf(size_t k, double position) const {
    const ScopedStep at(Step::kFactor);
    if (growth == Growth::kNone) return Real(1.0);
    const double n = static_cast<double>(growth == Growth::kWithoutTwo ? k : 2 * k);
    const auto width = static_cast<double>(growth == Growth::kOfHeadWidth ? D.value : R.value);
    Real decay = Real(n) / Real(width) + Real(gamma);
    if (growth != Growth::kNotNormalised) decay = decay / (Real(1.0) + Real(gamma));
    const double away = position - static_cast<double>(center);
    Real distance(growth == Growth::kAbsoluteDistance ? std::abs(away) : away, DType::kI64);
    if (growth != Growth::kNotDivided) distance = distance / Real(scale_base);
    if (growth == Growth::kWholeDistance)
      distance = Real(std::floor(away / scale_base), DType::kI64);
    if (growth == Growth::kTwice) distance = distance + distance;
    const Real power = Power(decay, distance);
    return role == XposRole::kQuery ? power : Real(1.0) / power;
  }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position, Tensor<Real>& y) const {
    const auto width = static_cast<size_t>(R.value), half = width / 2;
    const Head head{pairing, static_cast<size_t>(offset), width, x.shape[3]};
    const auto frequency = MutatedFrequencies<Real>(mutation, Rotary().Frequencies(), width, head);
    const Shape shape = {position.shape[0], position.shape[1], width};
    Tables<Real> tables{Tensor<Real>(shape), Tensor<Real>(shape)};
    for (size_t k = 0; k < width; ++k) {
      AngleTable<Real> angles(frequency(k));
      for (size_t b = 0; b < shape[0]; ++b) {
        for (size_t s = 0; s < shape[1]; ++s) {
          const double p = position(b, s);
          const bool plain = growth == Growth::kOtherPattern;
          const Real factor = plain ? Real(1.0) : FactorOf<Real>(k % half, p);
          const auto cos_sin = angles(p);
          tables.cos(b, s, k) = TableEntry(cos_sin, factor).first;
          tables.sin(b, s, k) =
              TableEntry(cos_sin, growth == Growth::kOnCosOnly ? Real(1.0) : factor).second;
        }
      }
    }
    Apply<Real>(mutation, head, true, x, std::move(tables), y);
    if (growth == Growth::kOtherPattern) GrowByOtherPattern(position, y);
  }
  template <class Real>
  void GrowByOtherPattern(const Tensor<double>& position, Tensor<Real>& y) const {
    const auto width = static_cast<size_t>(R.value), start = static_cast<size_t>(offset);
    for (size_t b = 0; b < y.shape[0]; ++b) {
      for (size_t s = 0; s < y.shape[2]; ++s) {
        for (size_t w = 0; w < width; ++w) {
          const size_t k = pairing == Pairing::kHalf ? w / 2 : w % (width / 2);
          const Real factor = FactorOf<Real>(k, position(b, s));
          const ScopedStep at(Step::kRotate);
          for (size_t h = 0; h < y.shape[1]; ++h) {
            y(b, h, s, start + w) = y(b, h, s, start + w) * factor;
          }
        }
      }
    }
  }
};

std::vector<Defect> GrowthDefects() {
  using Growth = MutatedXpos::Growth;
  return MutatedFormulas<MutatedXpos, &MutatedXpos::growth>({
      // Listed before growth_missing, which it equals near the centre.
      {"growth_by_integer_division",
       "the exponent is (p - center) // scale_base, rounded down to an integer",
       Growth::kWholeDistance},
      {"growth_missing", "the growth is missing: plain rope", Growth::kNone},
      {"growth_twice", "the growth is applied twice", Growth::kTwice},
      {"growth_in_other_pattern",
       "the growth is laid out over the channels for the other pairing "
       "(lucidrains/rotary-embedding-torch@4ae4ca0)",
       Growth::kOtherPattern},
      {"growth_on_cos_only", "the growth multiplies only cos", Growth::kOnCosOnly},
      {"decay_over_head_width",
       "the decay of a partly rotated head uses the width of the whole head", Growth::kOfHeadWidth},
      {"decay_without_two", "the decay is (k/R + gamma) / (1 + gamma): arange lacks its step of 2",
       Growth::kWithoutTwo},
      {"decay_not_normalised", "the decay is 2k/R + gamma, not divided by 1 + gamma",
       Growth::kNotNormalised},
      {"scale_base_ignored",
       "the exponent is not divided by scale_base: every token decays by the whole factor",
       Growth::kNotDivided},
      {"distance_without_sign", "tokens before the centre decay like those after it",
       Growth::kAbsoluteDistance},
  });
}

std::vector<Defect> OtherGrowthDefects() {
  return {
      ChangedWord("center_of_sequence",
                  "the centre is the middle of the current sequence, so queries and keys of "
                  "different lengths do not match (Dao-AILab/flash-attention#522)",
                  [](const Case& c) { return "center=" + std::to_string(ExtentOf(c, "S") / 2); }),
      ChangedRecipe("growth_in_bf16", "the growth is computed in bf16", "factor=bf16"),
      ChangedRecipe("growth_in_f16", "the growth is computed in f16", "factor=f16"),
      ChangedRecipe("growth_in_f32", "the growth is computed in f32 where f64 is required",
                    "factor=f32"),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Xpos>() {
  return {
      .properties = {{"reciprocal", "the factor of queries is the divisor of keys",
                      CheckReciprocal},
                     {"distance_alone_counts",
                      "shifting both positions by the same distance does not change a score",
                      CheckXposDistance},
                     {"center_cancels", "another centre does not change a score", CheckCenter},
                     {"is_rope_at_the_center", "at the centre xpos equals rope", CheckXposRope},
                     {"decays_in_scale_base",
                      "over scale_base tokens pair k of R/2 decays by (2k/R + gamma) / (1 + gamma)",
                      CheckDecay},
                     ChannelsOutsidePass(),
                     LinearInX(),
                     PairingsAgree(),
                     DecodingIsPrefill()},
      .defects = Joined<Defect>({PositionDefects(), GrowthDefects(), OtherGrowthDefects(),
                                 MutationDefects<MutatedXpos>(RotationMutations()),
                                 MutationDefects<MutatedXpos>(FrequencyMutations()),
                                 PrecisionDefects(Xpos::kSteps)}),
      .measurements = RotationMeasurements<Xpos>()};
}

}  // namespace sextant::oracle
