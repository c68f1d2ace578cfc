#include "reference/position/alibi_slopes.h"

#include <bit>
#include <cmath>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/position/measured/alibi.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/property.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

size_t PowerBelow(size_t heads) { return std::bit_floor(heads); }

Case WithHeads(const Case& c, size_t heads) { return c.With("H=" + std::to_string(heads)); }

// slope[h]^2 = slope[h-1] slope[h+1] within each of the two sequences.
Comparisons CheckGeometric(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response slope = ask(c, inputs);
  const size_t H = ExtentOf(c, "H"), n = PowerBelow(H);
  Comparisons comparisons;
  for (size_t h = 1; h + 1 < H; ++h) {
    if (h == n - 1 || h == n) continue;
    comparisons.Equal(slope(0, h) * slope(0, h), slope(0, h - 1) * slope(0, h + 1), {slope, 0, h});
  }
  return comparisons;
}

// The n-th of n slopes is 2^-max_bias, and so is the n-th power of the first slope.
Comparisons CheckSmallest(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response slope = ask(c, inputs);
  const size_t H = ExtentOf(c, "H"), n = PowerBelow(H);
  const double max_bias = NumberOf(c, "max_bias", 8);
  Comparisons comparisons;
  if (H == 0 || max_bias != std::floor(max_bias)) return comparisons;
  const double least = std::exp2(-max_bias);
  comparisons.Equal(slope(0, n - 1), least, {slope, 0, n - 1});
  Measured power = slope(0, 0);
  for (size_t i = 1; i < n; i *= 2) power = power * power;
  comparisons.Equal(power, least, {slope, 0, 0});
  return comparisons;
}

// The slopes of n heads, a power of two, are every second slope of 2n heads, from the second on.
Comparisons CheckTwice(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t n = PowerBelow(ExtentOf(c, "H"));
  const Response slope = ask(WithHeads(c, n), inputs), twice = ask(WithHeads(c, 2 * n), inputs);
  Comparisons comparisons;
  for (size_t h = 0; h < n; ++h) comparisons.Equal(twice(0, 2 * h + 1), slope(0, h), {slope, 0, h});
  return comparisons;
}

// Heads beyond the power of two n take those slopes of 2n heads that n heads do not have.
Comparisons CheckOthers(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t H = ExtentOf(c, "H"), n = PowerBelow(H);
  const Response slope = ask(c, inputs), first = ask(WithHeads(c, n), inputs),
                 twice = ask(WithHeads(c, 2 * n), inputs);
  Comparisons comparisons;
  for (size_t h = 0; h < H; ++h) {
    const Measured expected = h < n ? first(0, h) : twice(0, 2 * (h - n));
    comparisons.Equal(slope(0, h), expected, {slope, 0, h});
  }
  return comparisons;
}

// Doubling max_bias squares every slope.
Comparisons CheckSquares(const Case& c, const Tensors& inputs, const Ask& ask) {
  const double max_bias = NumberOf(c, "max_bias", 8);
  const Response slope = ask(c, inputs),
                 squared = ask(c.With("max_bias=" + PrintValue(2 * max_bias)), inputs);
  Comparisons comparisons;
  for (size_t h = 0; h < ExtentOf(c, "H"); ++h) {
    comparisons.Equal(squared(0, h), slope(0, h) * slope(0, h), {squared, 0, h});
  }
  return comparisons;
}

// The formula with other exponents: 2^-(max_bias numerator / denominator), times a sign.
struct MutatedAlibiSlopes : AlibiSlopes {
  SlopeExponent (*exponent)(int64_t h, int64_t H) = ExponentOf;
  double base = 2, sign = 1;
  template <class Real>
  void operator()(Tensor<Real>& slope) const {
    const auto H = static_cast<int64_t>(slope.shape[0]);
    for (int64_t h = 0; h < H; ++h) {
      const SlopeExponent e = exponent(h, H);
      Real part;
      {
        const ScopedStep at(Step::kExponent);
        part = Real(max_bias) * Real(static_cast<double>(e.numerator)) /
               Real(static_cast<double>(e.denominator));
      }
      const ScopedStep at(Step::kSlope);
      slope(h) = Real(sign) * Exp(-(part * Log(Real(base))));
    }
  }
};

Defect AlibiSlopesMutationDefect(std::string name, std::string why,
                                 SlopeExponent (*exponent)(int64_t, int64_t), double base = 2,
                                 double sign = 1) {
  MutatedAlibiSlopes mutated;
  mutated.exponent = exponent;
  mutated.base = base;
  mutated.sign = sign;
  return MutatedFormula(std::move(name), std::move(why), mutated);
}

int64_t Below(int64_t H) { return static_cast<int64_t>(PowerBelow(static_cast<size_t>(H))); }
int64_t Above(int64_t H) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(H))); }

std::vector<Defect> HeadCountDefects() {
  return {
      AlibiSlopesMutationDefect("any_head_count_as_power_of_two",
                                "2^-(max_bias (h+1)/H) for every number H",
                                [](int64_t h, int64_t H) {
                                  return SlopeExponent{h + 1, H};
                                }),
      AlibiSlopesMutationDefect("next_power_cut",
                                "the first H slopes of those for the next power of two",
                                [](int64_t h, int64_t H) {
                                  return SlopeExponent{h + 1, Above(H)};
                                }),
      AlibiSlopesMutationDefect("first_sequence_continued",
                                "heads beyond the power of two continue its slopes",
                                [](int64_t h, int64_t H) {
                                  return SlopeExponent{h + 1, Below(H)};
                                }),
      AlibiSlopesMutationDefect(
          "even_ones_of_twice", "heads beyond the power of two repeat the first slopes",
          [](int64_t h, int64_t H) {
            const int64_t n = Below(H);
            return h < n ? SlopeExponent{h + 1, n} : SlopeExponent{2 * (h - n) + 2, 2 * n};
          }),
      AlibiSlopesMutationDefect(
          "next_ones_of_twice", "heads beyond the power of two take the first ones of 2n",
          [](int64_t h, int64_t H) {
            const int64_t n = Below(H);
            return h < n ? SlopeExponent{h + 1, n} : SlopeExponent{h - n + 1, 2 * n};
          }),
      AlibiSlopesMutationDefect(
          "further_heads_first", "the slopes beyond the power of two come first",
          [](int64_t h, int64_t H) {
            const int64_t further = H - Below(H);
            return AlibiSlopes::ExponentOf(h < further ? Below(H) + h : h - further, H);
          }),
      AlibiSlopesMutationDefect("slopes_of_a_shard",
                                "each of two ranks computes the slopes of half the heads",
                                [](int64_t h, int64_t H) {
                                  const int64_t half = (H + 1) / 2;
                                  return AlibiSlopes::ExponentOf(h % half, half);
                                }),
      AlibiSlopesMutationDefect("slopes_of_eight_heads",
                                "the slopes of eight heads for every number of heads",
                                [](int64_t h, int64_t) {
                                  return SlopeExponent{h + 1, 8};
                                }),
  };
}

std::vector<Defect> AlibiSlopesFormulaDefects() {
  return {
      AlibiSlopesMutationDefect(
          "head_counted_from_zero", "h is used instead of h + 1 (paiml/aprender#2143)",
          [](int64_t h, int64_t H) {
            const SlopeExponent e = AlibiSlopes::ExponentOf(h, H);
            return SlopeExponent{e.numerator - (h < Below(H) ? 1 : 2), e.denominator};
          }),
      AlibiSlopesMutationDefect(
          "heads_reversed", "the last head gets the steepest slope",
          [](int64_t h, int64_t H) { return AlibiSlopes::ExponentOf(H - 1 - h, H); }),
      AlibiSlopesMutationDefect("base_e", "slopes are e^-(max_bias (h+1)/n)",
                                AlibiSlopes::ExponentOf, M_E),
      AlibiSlopesMutationDefect("slopes_negative",
                                "slopes are negative, for a formula that adds slope times distance",
                                AlibiSlopes::ExponentOf, 2, -1),
      ChangedRecipe("slopes_in_bf16", "casting the module to bf16 also casts its slopes",
                    "slope=bf16"),
      ChangedRecipe("slopes_in_f16", "casting the module to f16 also casts its slopes",
                    "slope=f16"),
      ChangedRecipe("slopes_by_powers_of_bf16", "slopes are powers of a ratio in bf16",
                    "slope=bf16:power_chain"),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<AlibiSlopes>() {
  return {.properties =
              {{"geometric", "the ratio of neighbouring slopes is constant", CheckGeometric},
               {"smallest_is_largest_bias", "the n-th of n slopes is 2^-max_bias", CheckSmallest},
               {"twice_the_heads", "n heads have every second slope of 2n heads", CheckTwice},
               {"others_of_twice",
                "heads beyond the power of two n have the other slopes of 2n heads", CheckOthers},
               {"twice_the_bias", "doubling max_bias squares the slopes", CheckSquares}},
          .defects = Joined<Defect>({HeadCountDefects(), AlibiSlopesFormulaDefects()}),
          .measurements = {MeasureSlopes}};
}

}  // namespace sextant::oracle
