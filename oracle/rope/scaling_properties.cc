#include "oracle/rope/scaling_properties.h"

#include <cmath>
#include <optional>

#include "oracle/property/changed_inputs.h"
#include "oracle/property/property.h"
#include "oracle/rope/configuration.h"

namespace sextant::oracle {
namespace {

size_t PairsOf(const Case& c) { return ExtentOf(c, "R") / 2; }

// The case with this scaling; empty if its width does not allow it.
std::optional<Case> Scaled(const Case& c, const RopeScaling& scaling) {
  try {
    return c.With("scaling=" + PrintValue(scaling));
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The scaling of the case if it is of this kind, else `otherwise`.
template <class Scaling>
Scaling ScalingOf(const Case& c, const Scaling& otherwise) {
  const RopeScaling scaling = Configuration(c).scaling;
  return std::holds_alternative<Scaling>(scaling) ? std::get<Scaling>(scaling) : otherwise;
}

// Answers with and without a scaling.
struct Pair {
  Response plain, scaled;
  Measured f(size_t k) const { return plain(kFrequency, k); }
  Measured y(size_t k) const { return scaled(kFrequency, k); }
  ElementOf at(size_t k) const { return {scaled, kFrequency, k}; }
};
std::optional<Pair> Both(const Case& c, const Tensors& inputs, const Ask& ask,
                         const RopeScaling& scaling) {
  const std::optional<Case> other = Scaled(c, scaling);
  if (!other) return std::nullopt;
  return Pair{ask(c.With("scaling=none"), inputs), ask(*other, inputs)};
}

Comparisons CheckLinear(const Case& c, const Tensors& inputs, const Ask& ask) {
  const auto s = ScalingOf(c, LinearScaling{2.5});
  const auto both = Both(c, inputs, ask, s);
  Comparisons comparisons;
  for (size_t k = 0; k < PairsOf(c); ++k) {
    comparisons.Equal(both->y(k) * s.factor, both->f(k), both->at(k));
  }
  return comparisons;
}

// The first frequency stays 1, the last one is divided by the factor.
Comparisons CheckNtk(const Case& c, const Tensors& inputs, const Ask& ask) {
  const auto s = ScalingOf(c, NtkScaling{3});
  const auto both = Both(c, inputs, ask, s);
  Comparisons comparisons;
  if (!both || PairsOf(c) == 0) return comparisons;
  const size_t last = PairsOf(c) - 1;
  comparisons.Equal(both->y(0), 1, both->at(0));
  comparisons.Equal(both->y(last) * s.factor, both->f(last), both->at(last));
  return comparisons;
}

// The last frequency is divided by the factor for every mixed_b. With mixed_b = 1 the divisor of
// pair 2k + 1 is the square of the divisor of pair k.
Comparisons CheckNtkMixed(const Case& c, const Tensors& inputs, const Ask& ask) {
  auto s = ScalingOf(c, NtkMixedScaling{3, 0.5});
  const auto own = Both(c, inputs, ask, s);
  Comparisons comparisons;
  if (PairsOf(c) == 0) return comparisons;
  const size_t last = PairsOf(c) - 1;
  comparisons.Equal(own->y(last) * s.factor, own->f(last), own->at(last));
  s.mixed_b = 1;
  const auto both = Both(c, inputs, ask, s);
  for (size_t k = 0; 2 * k + 1 <= last; ++k) {
    const size_t twice = 2 * k + 1;
    comparisons.Equal(both->y(twice) * both->f(k) * both->f(k),
                      both->f(twice) * both->y(k) * both->y(k), both->at(twice));
  }
  return comparisons;
}

// growth L = factor n - (factor - 1) L
Comparisons CheckDynamic(const Case& c, const Tensors& inputs, const Ask& ask) {
  const auto s = ScalingOf(c, DynamicScaling{4, 1000});
  const auto both = Both(c, inputs, ask, s);
  Comparisons comparisons;
  if (!both || PairsOf(c) == 0) return comparisons;
  const double n = NumberOf(c, "seq_len", 0);
  const Measured L = s.max_position_embeddings;
  const Measured growth =
      n <= s.max_position_embeddings ? L : Measured(s.factor) * n - (Measured(s.factor) - 1) * L;
  const size_t last = PairsOf(c) - 1;
  comparisons.Equal(both->y(last) * growth, both->f(last) * L, both->at(last));
  for (size_t k = 0; k < PairsOf(c); ++k) {
    comparisons.AtMost(both->y(k), both->f(k), both->at(k));
    if (n <= s.max_position_embeddings) comparisons.Equal(both->y(k), both->f(k), both->at(k));
  }
  return comparisons;
}

// Frequency f makes t = L f / (2 pi) rotations in the original context. Scaled, it is f / factor
// for t < low, f for t > high, and between f / factor and f for every t.
struct Bands {
  double L, low, high, factor;
};
Comparisons CheckBands(const Pair& both, size_t pairs, const Bands& bands) {
  const Measured two_pi = Nearest(2 * M_PI);
  const auto below = [](const Measured& a, const Measured& b) {
    const Measured difference = a - b;
    return difference.value() + difference.error() < 0;
  };
  Comparisons comparisons;
  for (size_t k = 0; k < pairs; ++k) {
    const Measured length = both.f(k) * bands.L, times = both.y(k) * bands.factor;
    comparisons.AtMost(both.f(k), times, both.at(k));
    comparisons.AtMost(both.y(k), both.f(k), both.at(k));
    if (below(length, two_pi * bands.low)) {
      comparisons.Equal(times, both.f(k), both.at(k));
    } else if (below(two_pi * bands.high, length)) {
      comparisons.Equal(both.y(k), both.f(k), both.at(k));
    }
  }
  return comparisons;
}

Comparisons CheckLlama3(const Case& c, const Tensors& inputs, const Ask& ask) {
  const auto s = ScalingOf(c, Llama3Scaling{});
  if (s.factor < 1) return {};
  return CheckBands(
      *Both(c, inputs, ask, s), PairsOf(c),
      {s.original_max_position_embeddings, s.low_freq_factor, s.high_freq_factor, s.factor});
}

// Checks cases in which the limits of the ramp rise and lie above pair 0 and below pair R/2, with a
// margin of 10 %.
Comparisons CheckYarn(const Case& c, const Tensors& inputs, const Ask& ask) {
  const auto s = ScalingOf(c, YarnScaling{.factor = 3, .original_max_position_embeddings = 1000});
  const double rotations = s.original_max_position_embeddings / (2 * M_PI),
               base = NumberOf(c, "base", 0);
  if (s.factor < 1 || base <= 1 || s.beta_fast <= s.beta_slow) return {};
  if (rotations < 1.1 * s.beta_slow || 1.1 * rotations > s.beta_fast * base) return {};
  return CheckBands(*Both(c, inputs, ask, s), PairsOf(c),
                    {s.original_max_position_embeddings, s.beta_slow, s.beta_fast, s.factor});
}

Comparisons CheckLongRope(const Case& c, const Tensors& inputs, const Ask& ask) {
  std::vector<double> shorter, longer;
  for (size_t k = 0; k < PairsOf(c); ++k) {
    shorter.push_back(1 + static_cast<double>(k) / 8);
    longer.push_back(3 + static_cast<double>(k));
  }
  const auto s = ScalingOf(c, LongRopeScaling{.short_factor = shorter,
                                              .long_factor = longer,
                                              .original_max_position_embeddings = 4096,
                                              .factor = 4});
  const auto both = Both(c, inputs, ask, s);
  const bool beyond = NumberOf(c, "seq_len", 0) > s.original_max_position_embeddings;
  Comparisons comparisons;
  for (size_t k = 0; k < PairsOf(c); ++k) {
    comparisons.Equal(both->y(k) * (beyond ? s.long_factor : s.short_factor)[k], both->f(k),
                      both->at(k));
  }
  return comparisons;
}

Comparisons CheckProportional(const Case& c, const Tensors& inputs, const Ask& ask) {
  const auto s = ScalingOf(c, ProportionalScaling{.partial_rotary_factor = 0.25, .factor = 2});
  const auto both = Both(c, inputs, ask, s);
  Comparisons comparisons;
  for (size_t k = 0; k < PairsOf(c); ++k) {
    const bool rotates =
        static_cast<double>(k + 1) <= s.partial_rotary_factor * static_cast<double>(PairsOf(c));
    comparisons.Equal(rotates ? both->y(k) * s.factor : both->y(k), rotates ? both->f(k) : 0,
                      both->at(k));
  }
  return comparisons;
}

Comparisons CheckExplicit(const Case& c, const Tensors& inputs, const Ask& ask) {
  std::vector<double> list;
  for (size_t k = 0; k < PairsOf(c); ++k) list.push_back(1 / (1.5 + static_cast<double>(k)));
  const auto s = ScalingOf(c, ExplicitScaling{.inv_freq = list, .attention_factor = 0.75});
  const Response y = ask(*Scaled(c, s), inputs);
  Comparisons comparisons;
  for (size_t k = 0; k < PairsOf(c); ++k) {
    comparisons.Equal(y(kFrequency, k), s.inv_freq[k], {y, kFrequency, k});
  }
  comparisons.Equal(y(kAmplitude, 0), s.attention_factor, {y, kAmplitude, 0});
  return comparisons;
}

Comparisons CheckNeutral(const Case& c, const Tensors& inputs, const Ask& ask) {
  const std::vector<double> ones(PairsOf(c), 1.0);
  Comparisons comparisons;
  for (const RopeScaling& neutral : {
           RopeScaling(LinearScaling{1}),
           RopeScaling(NtkScaling{1}),
           RopeScaling(NtkMixedScaling{1, 0.5}),
           RopeScaling(DynamicScaling{4, 0x1p40}),
           RopeScaling(Llama3Scaling{.factor = 1}),
           RopeScaling(YarnScaling{.factor = 1, .original_max_position_embeddings = 4096}),
           RopeScaling(LongRopeScaling{.short_factor = ones,
           .long_factor = ones,
           .original_max_position_embeddings = 4096,
           .factor = 1}),
           RopeScaling(ProportionalScaling{.partial_rotary_factor = 1}),
       }) {
    const auto both = NumberOf(c, "base", 0) == 1 ? std::nullopt : Both(c, inputs, ask, neutral);
    if (!both) continue;
    for (size_t k = 0; k < PairsOf(c); ++k) comparisons.Equal(both->y(k), both->f(k), both->at(k));
    comparisons.Equal(both->scaled(kAmplitude, 0), 1, {both->scaled, kAmplitude, 0});
  }
  return comparisons;
}

bool HasAmplitude(const RopeScaling& scaling) {
  return std::visit(
      [](const auto& s) {
        return requires { s.template Amplitude<double>(RotarySetting{}); };
      },
      scaling);
}

// yarn: 1 + m ln s^2 = 2 (1 + m ln s) - 1; longrope with factor L: sqrt(1 + ln L / ln L)^2 = 2;
// other scalings with an amplitude: not checked here; all others: 1.
Comparisons CheckScalingAmplitude(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  const auto amplitude = [&](const RopeScaling& scaling) {
    return ask(*Scaled(c, scaling), inputs);
  };
  const RopeScaling own = Configuration(c).scaling;
  if (const auto* s = std::get_if<YarnScaling>(&own)) {
    YarnScaling squared = *s;
    squared.factor *= s->factor;
    const Response once = amplitude(*s), twice = amplitude(squared);
    const ElementOf at{twice, kAmplitude, 0};
    if (s->attention_factor) {
      comparisons.Equal(once(kAmplitude, 0), *s->attention_factor, {once, kAmplitude, 0});
    } else if (s->mscale.value_or(0) == 0 || s->mscale_all_dim.value_or(0) == 0) {
      comparisons.Equal(twice(kAmplitude, 0) + 1, once(kAmplitude, 0) * 2, at);
    }
  } else if (const auto* longrope = std::get_if<LongRopeScaling>(&own)) {
    LongRopeScaling context = *longrope;
    context.factor = context.original_max_position_embeddings;
    if (context.attention_factor || context.short_mscale || context.long_mscale) return comparisons;
    const Response a = amplitude(context);
    comparisons.Equal(a(kAmplitude, 0) * a(kAmplitude, 0), 2, {a, kAmplitude, 0});
  } else if (!HasAmplitude(own)) {
    const Response a = ask(c, inputs);
    comparisons.Equal(a(kAmplitude, 0), 1, {a, kAmplitude, 0});
  }
  return comparisons;
}

}  // namespace

std::vector<Property> ScalingProperties() {
  return {
      {"linear_divides", "linear scaling divides every frequency by its factor", CheckLinear},
      {"ntk_keeps_the_first",
       "ntk keeps the first frequency, 1, and divides the last one by its factor", CheckNtk},
      {"ntk_mixed_divides_the_last",
       "ntk_mixed divides the last frequency by its factor, and with mixed_b = 1 the earlier ones "
       "by roots of the factor",
       CheckNtkMixed},
      {"dynamic_follows_length",
       "dynamic changes nothing up to its context; beyond it, the last frequency is divided by the "
       "growth",
       CheckDynamic},
      {"llama3_bands",
       "llama3 divides low frequencies by its factor, keeps high ones, and puts the others between",
       CheckLlama3},
      {"yarn_bands",
       "yarn keeps pairs of more than beta_fast rotations, divides those of less than beta_slow by "
       "its factor, and puts the others between",
       CheckYarn},
      {"longrope_switches",
       "longrope divides by short_factor up to its original context and by long_factor beyond it",
       CheckLongRope},
      {"proportional_keeps_still", "proportional rotates only its part of the pairs",
       CheckProportional},
      {"explicit_is_given", "explicit frequencies and amplitude are the given ones", CheckExplicit},
      {"neutral_is_none", "with neutral parameters every scaling equals scaling=none",
       CheckNeutral},
      {"amplitudes",
       "yarn's amplitude is linear in ln(factor), longrope's is sqrt(1 + ln(factor) / "
       "ln(context)), and without either the amplitude is 1",
       CheckScalingAmplitude},
  };
}

}  // namespace sextant::oracle
