#include "reference/position/sinusoidal.h"

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/position/measured/sinusoidal.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/property.h"
#include "oracle/rope/angle_defects.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

// The channels of the sine and the cosine of one angle.
struct Channels {
  size_t sine, cosine;
};
constexpr Channels ChannelsOf(Layout layout, size_t k, size_t M) {
  return layout == Layout::kInterleaved ? Channels{2 * k, 2 * k + 1} : Channels{k, M / 2 + k};
}

Response AskAt(const Case& c, Tensors inputs, const Ask& ask,
               const std::function<double(double)>& change) {
  for (double& p : InputNamed(inputs, "position").data) p = change(p);
  return ask(c, inputs);
}

// Calls check(flat index of the sine, of the cosine) for every position and angle.
template <class Check>
void ForEachAngle(const Case& c, Check check) {
  Layout layout{};
  ParseValue(TextOf(c, "layout"), layout);
  const size_t M = ExtentOf(c, "M");
  for (size_t s = 0; s < ExtentOf(c, "S"); ++s) {
    for (size_t k = 0; k < M / 2; ++k) {
      const Channels at = ChannelsOf(layout, k, M);
      check(s * M + at.sine, s * M + at.cosine);
    }
  }
}

Comparisons CheckCircle(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs);
  Comparisons comparisons;
  ForEachAngle(c, [&](size_t s, size_t t) {
    comparisons.Equal(y(0, s) * y(0, s) + y(0, t) * y(0, t), 1, {y, 0, s});
  });
  return comparisons;
}

Comparisons CheckZero(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = AskAt(c, inputs, ask, [](double) { return 0; });
  Comparisons comparisons;
  ForEachAngle(c, [&](size_t s, size_t t) {
    comparisons.Equal(y(0, s), 0, {y, 0, s});
    comparisons.Equal(y(0, t), 1, {y, 0, t});
  });
  return comparisons;
}

Comparisons CheckParity(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs), negative = AskAt(c, inputs, ask, [](double p) { return -p; });
  Comparisons comparisons;
  ForEachAngle(c, [&](size_t s, size_t t) {
    comparisons.Equal(negative(0, s), -y(0, s), {negative, 0, s});
    comparisons.Equal(negative(0, t), y(0, t), {negative, 0, t});
  });
  return comparisons;
}

// p_(i+delta) = M(delta) p_i with M independent of i; here delta is 7.
Comparisons CheckSinusoidalShift(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs), delta = AskAt(c, inputs, ask, [](double) { return 7; }),
                 shifted = AskAt(c, inputs, ask, [](double p) { return p + 7; });
  Comparisons comparisons;
  ForEachAngle(c, [&](size_t s, size_t t) {
    comparisons.Equal(shifted(0, s), y(0, s) * delta(0, t) + y(0, t) * delta(0, s),
                      {shifted, 0, s});
    comparisons.Equal(shifted(0, t), y(0, t) * delta(0, t) - y(0, s) * delta(0, s),
                      {shifted, 0, t});
  });
  return comparisons;
}

// With frequencies of at most 1, the angle at position 1 lies in the first quadrant. For the first
// frequency, 1, it exceeds pi / 4, so the sine is at least the cosine.
Comparisons CheckSign(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  if (NumberOf(c, "base", 0) < 1) return comparisons;
  const Response y = AskAt(c, inputs, ask, [](double) { return 1; });
  const size_t M = ExtentOf(c, "M");
  const size_t cosine = TextOf(c, "layout") == "interleaved" ? 1 : M / 2;
  for (size_t s = 0; M > 0 && s < ExtentOf(c, "S"); ++s) {
    comparisons.AtMost(y(0, s * M + cosine), y(0, s * M), {y, 0, s * M});
  }
  ForEachAngle(c, [&](size_t s, size_t t) {
    comparisons.AtMost(0, y(0, s), {y, 0, s});
    comparisons.AtMost(0, y(0, t), {y, 0, t});
  });
  return comparisons;
}

// The last frequency of tensor2tensor is 1 / base: its angle at position base is that of the first
// frequency at position 1.
Comparisons CheckLast(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  const size_t M = ExtentOf(c, "M");
  const double base = NumberOf(c, "base", 0);
  if (M < 4 || base != std::floor(base)) return comparisons;
  const Case t2t = c.With("denominator=tensor2tensor").With("layout=interleaved");
  const Response once = AskAt(t2t, inputs, ask, [](double) { return 1; }),
                 far = AskAt(t2t, inputs, ask, [base](double) { return base; });
  for (const size_t channel : {0, 1}) {
    comparisons.Equal(far(0, M - 2 + channel), once(0, channel), {far, 0, M - 2 + channel});
  }
  return comparisons;
}

// The paper's frequency k of base b^2 is frequency 2k of base b.
Comparisons CheckSquaredBase(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  const size_t M = ExtentOf(c, "M");
  const double base = NumberOf(c, "base", 0);
  if (std::fma(base, base, -(base * base)) != 0) return comparisons;  // the square is not a double
  const Case paper = c.With("layout=interleaved");
  const Response y = ask(paper, inputs);
  const Response squared = ask(paper.With("base=" + PrintValue(base * base)), inputs);
  for (size_t s = 0; s < ExtentOf(c, "S"); ++s) {
    for (size_t k = 0; 2 * k < M / 2; ++k) {
      for (const size_t channel : {0, 1}) {
        const size_t at = s * M + 2 * k + channel;
        comparisons.Equal(squared(0, at), y(0, s * M + 4 * k + channel), {squared, 0, at});
      }
    }
  }
  return comparisons;
}

// The formula with one mutation. Members with their default values change nothing.
struct MutatedSinusoidal : Sinusoidal {
  int64_t numerator_shift = 0, numerator_scale = 2;  // base^-((scale k + shift) / M)
  bool per_channel = false;                          // every channel has its own frequency
  bool cosine_first = false;
  // Frequencies are computed correctly, then stored in this format.
  std::optional<DType> frequency_format{};
  template <class Real>
  Real Frequency(int64_t k, int64_t n) const {
    const Real f = InversePower<Real>(base, k, n);
    return frequency_format ? ConvertedTo(*frequency_format, f) : f;
  }
  template <class Real>
  void operator()(const Tensor<double>& position, Tensor<Real>& y) const {
    const auto width = static_cast<int64_t>(y.shape[1]);
    const bool paper = denominator == Denominator::kPaper;
    const int64_t n = paper ? width : std::max<int64_t>(width - 2, 2);
    for (int64_t k = 0; k < width / 2; ++k) {
      const int64_t numerator = numerator_scale * k + numerator_shift;
      AngleTable<Real> first(Frequency<Real>(per_channel ? 4 * k : numerator, n));
      AngleTable<Real> second(Frequency<Real>(per_channel ? 4 * k + 2 : numerator, n));
      const Channels at = ChannelsOf(layout, static_cast<size_t>(k), static_cast<size_t>(width));
      for (size_t s = 0; s < position.shape[0]; ++s) {
        const Real sine = first(position(s)).second, cosine = second(position(s)).first;
        const ScopedStep step(Step::kTable);
        y(s, cosine_first ? at.cosine : at.sine) = Converted(sine);
        y(s, cosine_first ? at.sine : at.cosine) = Converted(cosine);
      }
    }
  }
};

Defect SinusoidalMutationDefect(std::string name, std::string why,
                                void (*change)(MutatedSinusoidal&)) {
  MutatedSinusoidal mutated;
  change(mutated);
  return MutatedFormula(std::move(name), std::move(why), mutated);
}

std::vector<Defect> SinusoidalFormulaDefects() {
  return {
      SinusoidalMutationDefect("cos_and_sin_swapped", "cosines and sines are swapped",
                               [](MutatedSinusoidal& m) { m.cosine_first = true; }),
      SinusoidalMutationDefect("exponent_shifted_up",
                               "frequencies are base^(-2k/M) with k from 1 instead of 0",
                               [](MutatedSinusoidal& m) { m.numerator_shift = 2; }),
      SinusoidalMutationDefect(
          "exponent_odd", "frequencies are base^(-(2k+1)/M): the index of the odd channel is used",
          [](MutatedSinusoidal& m) { m.numerator_shift = 1; }),
      SinusoidalMutationDefect("exponent_without_two",
                               "frequencies are base^(-k/M): arange lacks its step of 2",
                               [](MutatedSinusoidal& m) { m.numerator_scale = 1; }),
      SinusoidalMutationDefect("exponent_with_four",
                               "frequencies are base^(-4k/M): half the width is used as the width",
                               [](MutatedSinusoidal& m) { m.numerator_scale = 4; }),
      SinusoidalMutationDefect("exponent_by_integer_division",
                               "integer division 2k // M gives 0: all frequencies are 1",
                               [](MutatedSinusoidal& m) { m.numerator_scale = 0; }),
      SinusoidalMutationDefect("frequencies_in_bf16",
                               "casting the module to bf16 also casts its frequencies",
                               [](MutatedSinusoidal& m) { m.frequency_format = DType::kBF16; }),
      SinusoidalMutationDefect("frequencies_in_f16",
                               "casting the module to f16 also casts its frequencies",
                               [](MutatedSinusoidal& m) { m.frequency_format = DType::kF16; }),
      SinusoidalMutationDefect("frequencies_in_f32",
                               "frequencies are stored in f32 where f64 is required",
                               [](MutatedSinusoidal& m) { m.frequency_format = DType::kF32; }),
      SinusoidalMutationDefect(
          "one_frequency_per_channel",
          "the index of the channel is used as that of the pair: sine and cosine of a "
          "pair have different frequencies",
          [](MutatedSinusoidal& m) { m.per_channel = true; }),
  };
}

Defect OffsetOfPadding() {
  return ChangedInputs(
      "position_offset_of_padding",
      "positions start at 2, after the index of the padding (facebookresearch/fairseq#4648)",
      [](const Case&, Tensors& inputs) {
        for (double& p : InputNamed(inputs, "position").data) p += 2;
        return true;
      });
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Sinusoidal>() {
  return {
      .properties = {{"on_a_circle", "sin^2 + cos^2 = 1", CheckCircle},
                     {"starts_at_zero", "the angle at position 0 is 0", CheckZero},
                     {"cos_even_sin_odd", "cos(-p) is cos(p) and sin(-p) is -sin(p)", CheckParity},
                     {"shift_is_linear",
                      "a shift by 7 positions is the same linear map at every position",
                      CheckSinusoidalShift},
                     {"rotates_forward", "a step of at most one radian ends in the first quadrant",
                      CheckSign},
                     {"last_is_inverse_base", "the last frequency of tensor2tensor is 1 / base",
                      CheckLast},
                     {"squared_base_skips_pairs", "pair k with base b^2 is pair 2k with base b",
                      CheckSquaredBase}},
      .defects = Joined<Defect>({PositionDefects(),
                                 SinusoidalFormulaDefects(),
                                 {OffsetOfPadding()},
                                 PrecisionDefects(Sinusoidal::kSteps)}),
      .measurements = {MeasureSinusoidal}};
}

}  // namespace sextant::oracle
