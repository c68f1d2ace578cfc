// Defects of operations whose outputs are scale and codes: of quantize, and of those that end with
// it.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>

#include "oracle/defect/defect.h"
#include "oracle/layer/exchanged_pairs.h"
#include "reference/layer/quantize.h"
#include "reference/number/clamp.h"
#include "reference/number/value_of.h"

namespace sextant::oracle {

// The number of the block of an element of x[N,A,G,M].
struct BlockShape {
  size_t A, G, M;
  explicit BlockShape(const Shape& x) : A(x[1]), G(x[2]), M(x[3]) {}
  size_t BlockOf(size_t flat) const { return flat / (A * G * M) * G + flat / M % G; }
};

// `quantize` with one mutation.
struct MutatedQuantization {
  enum class Mutation {
    kNone,
    // The rounding of codes:
    kTruncated,
    kHalfUp,
    kFlushed,
    kTopLost,
    kOtherBias,
    // The place of codes:
    kPairsExchanged,
    // The scale that is answered:
    kInverse,
    kDoubled,
    kBF16,
    kNoTensorScale,
    kTimesTensorScale,
    kUnroundedScale,
    // The scale that is used:
    kNeighbour,
    kTwice,
    kUnscaled,
    kOfMaximum,
    kOfRow,
    kOfFirstRow,
  } mutation{};

  // x[N,A,G,M]: numbers, or what another formula computed. The outputs have the numbers of
  // scale[N,G] and codes[N,A,G,M], in any shape.
  template <class Number, class Real>
  void Apply(const Quantize& op, const Tensor<Number>& x, const Tensor<Real>* tensor_scale,
             Tensor<Real>& scale, Tensor<Real>& codes) const {
    const Shape of_scale = scale.shape, of_codes = codes.shape;
    scale.shape = {x.shape[0], x.shape[2]};
    codes.shape = x.shape;
    ApplyToBlocks(op, x, tensor_scale, scale, codes);
    scale.shape = of_scale;
    codes.shape = of_codes;
  }

  // The numbers divided by the scale of `looked_at`, which is answered if `answers`.
  template <class Number, class Real>
  static void DivideByScaleOf(const Tensor<Number>& looked_at, bool answers, const Quantize& op,
                              const Tensor<Number>& x, const Tensor<Real>* tensor_scale,
                              Tensor<Real>& scale, Tensor<Real>& codes) {
    const Real unit(tensor_scale ? ValueOf((*tensor_scale)(0)) : 1);
    Tensor<Real> of_other = scale, unused = codes;
    QuantizeBlocks(op, looked_at, tensor_scale, of_other, unused);
    for (Real& s : of_other.data) s = Used(op, s);
    if (answers) scale = of_other;
    const BlockShape shape(x.shape);
    const ScopedStep at(Step::kQuantize);
    for (size_t i = 0; i < codes.data.size(); ++i)
      codes.data[i] =
          Limited(op, Converted(Real(x.data[i])) / (of_other.data[shape.BlockOf(i)] * unit));
  }

 private:
  template <class Number, class Real>
  static void QuantizeBlocks(const Quantize& op, const Tensor<Number>& x,
                             const Tensor<Real>* tensor_scale, Tensor<Real>& scale,
                             Tensor<Real>& codes) {
    if constexpr (std::same_as<Number, double>)
      op(x, tensor_scale, scale, codes);
    else
      op.QuantizeStored(x, tensor_scale, scale, codes);
  }

  double Wrong(const Quantize& op, double t) const {
    const DType type = op.rounded_dtype;
    const double limit = op.Limit(), unit = UlpOf(type, t),
                 y = Chosen(op.ChoiceOf(Quantize::kRoundedOutput), type, t);
    const auto within = [&](double code) { return std::clamp(code, -limit, op.LargestCode()); };
    switch (mutation) {
      case Mutation::kTruncated:
        return std::trunc(t / unit) * unit;
      case Mutation::kHalfUp:
        return within(std::floor(t / unit + 0.5) * unit);
      case Mutation::kFlushed:
        return std::abs(y) < PowerOfTwo(GridOf(type).min_exponent) ? 0 : y;
      case Mutation::kTopLost:
        return std::abs(y) >= PowerOfTwo(GridOf(type).max_exponent)
                   ? std::copysign(NextDown(type, PowerOfTwo(GridOf(type).max_exponent)), t)
                   : y;
      case Mutation::kOtherBias:
        return y / 2;
      default:
        return y;
    }
  }

  // What takes the place of x where the largest number of a block is looked for.
  template <class Number>
  Tensor<Number> LookedAt(const Tensor<Number>& x) const {
    Tensor<Number> other = x;
    const size_t A = x.shape[1], G = x.shape[2], M = x.shape[3];
    for (size_t i = 0; i < x.data.size(); ++i) {
      const size_t m = i % M, g = i / M % G, a = i / (M * G) % A, n = i / (M * G * A);
      const auto at = [&](size_t row, size_t group) -> const Number& {
        return x.data[((n * A + row) * G + group) * M + m];
      };
      if (mutation == Mutation::kNeighbour) other.data[i] = at(a, (g + 1) % G);
      if (mutation == Mutation::kOfMaximum) other.data[i] = LargerOf(x.data[i], Number(0.0));
      if (mutation == Mutation::kOfFirstRow) other.data[i] = at(0, g);
      if (mutation == Mutation::kOfRow)
        for (size_t group = 0; group < G; ++group)
          other.data[i] = LargerOf(other.data[i], LargerOf(at(a, group), -at(a, group)));
    }
    return other;
  }
  template <class Number>
  static Number LargerOf(const Number& a, const Number& b) {
    if constexpr (std::same_as<Number, double>)
      return std::max(a, b);
    else
      return Max(a, b);
  }

  template <class Number, class Real>
  void ApplyToBlocks(const Quantize& op, const Tensor<Number>& x, const Tensor<Real>* tensor_scale,
                     Tensor<Real>& scale, Tensor<Real>& codes) const {
    const Real unit(tensor_scale ? ValueOf((*tensor_scale)(0)) : 1);
    QuantizeBlocks(op, x, mutation == Mutation::kNoTensorScale ? nullptr : tensor_scale, scale,
                   codes);
    if (mutation >= Mutation::kTruncated && mutation <= Mutation::kOtherBias)
      for (Real& code : codes.data)
        if (const double t = ValueOf(code); std::isfinite(t))
          code = Real(Wrong(op, t), op.rounded_dtype);
    if (mutation >= Mutation::kOfMaximum || mutation == Mutation::kNeighbour)
      return DivideByScaleOf(LookedAt(x), mutation != Mutation::kNeighbour, op, x, tensor_scale,
                             scale, codes);
    const ScopedStep at(Step::kQuantize);
    const BlockShape shape(x.shape);
    if (mutation == Mutation::kTwice || mutation == Mutation::kUnscaled) {
      for (size_t i = 0; i < codes.data.size(); ++i) {
        const Real s = Used(op, scale.data[shape.BlockOf(i)]) * unit;
        const Real number = Converted(Real(x.data[i]));
        codes.data[i] = Limited(op, mutation == Mutation::kTwice ? number / s / s : number);
      }
    }
    if (mutation == Mutation::kPairsExchanged) ExchangePairs(codes);
    if (mutation == Mutation::kUnroundedScale && SizeOf(op.scale_dtype) == 1 &&
        !IsPower(op.ChoiceOf(0)))
      for (size_t i = 0; i < codes.data.size(); ++i)
        codes.data[i] =
            Limited(op, Converted(Real(x.data[i])) / (scale.data[shape.BlockOf(i)] * unit));
    for (Real& s : scale.data) {
      if (mutation == Mutation::kDoubled) s = s * Real(2.0);
      if (mutation == Mutation::kInverse) s = Real(1.0) / s;
      if (mutation == Mutation::kTimesTensorScale && tensor_scale) s = s * unit * unit;
      if (mutation == Mutation::kBF16) s = ConvertedTo(DType::kBF16, s);
    }
  }

  // The scale by which numbers are divided, of what decides it.
  template <class Real>
  static Real Used(const Quantize& op, const Real& s) {
    const sextant::Choice own = op.ChoiceOf(0), choice = SizeOf(op.scale_dtype) > 1 || IsPower(own)
                                                             ? own
                                                             : sextant::Choice::kNearestEven;
    if (choice == sextant::Choice::kNone)
      return op.codes_by == CodesBy::kStored ? ConvertedTo(op.scale_dtype, s) : s;
    return Real(Chosen(choice, op.scale_dtype, ValueOf(s)));
  }
  template <class Real>
  static Real Limited(const Quantize& op, const Real& t) {
    const double x = ValueOf(t), within = std::clamp(x, -op.Limit(), op.LargestCode());
    return x == within || std::isnan(x) ? t : Real(within);
  }
};

// Those that a block of one row may have.
inline std::vector<NamedMutation<MutatedQuantization::Mutation>> QuantizeMutations() {
  using Mutation = MutatedQuantization::Mutation;
  return {
      {"truncated", "codes are cut off, not rounded (vllm-project/vllm#45361)",
       Mutation::kTruncated},
      {"half_up", "a tie rounds up, not to even", Mutation::kHalfUp},
      {"subnormals_flushed", "a subnormal code is 0", Mutation::kFlushed},
      {"top_binade_lost", "codes with the largest exponent become the largest one below",
       Mutation::kTopLost},
      {"other_bias", "the codes are those of a type whose exponents are off by one (fn for fnuz)",
       Mutation::kOtherBias},
      {"pairs_exchanged", "two neighbouring codes are exchanged (the nibbles of a byte)",
       Mutation::kPairsExchanged},
      {"scale_inverted", "1 / scale is answered", Mutation::kInverse},
      {"scale_doubled", "the answered scale is twice the right one (an exponent off by one)",
       Mutation::kDoubled},
      {"scale_in_bf16", "the scale is stored in bf16, the codes are those of the exact one",
       Mutation::kBF16},
      {"tensor_scale_ignored", "the scale of the tensor counts as 1", Mutation::kNoTensorScale},
      {"tensor_scale_multiplied",
       "the scale of a block is amax / limit * tensor_scale: a multiplier "
       "taken for a divisor (ggml-org/llama.cpp#22858)",
       Mutation::kTimesTensorScale},
      {"scale_of_codes_unrounded", "the codes are those of the scale before it is rounded",
       Mutation::kUnroundedScale},
      {"scale_of_next_block", "the numbers are divided by the scale of the next block",
       Mutation::kNeighbour, true},
      {"scaled_twice", "the numbers are divided by the scale twice", Mutation::kTwice},
      {"not_scaled", "the numbers are not divided by the scale", Mutation::kUnscaled},
      {"largest_without_magnitude",
       "the scale is that of the largest number, not of the largest magnitude",
       Mutation::kOfMaximum},
      {"scale_of_row", "all groups of a row have the scale of the row", Mutation::kOfRow, true},
  };
}

}  // namespace sextant::oracle
