#include "reference/layer/quantize.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/exchanged_pairs.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "reference/number/value_of.h"
#include "reference/prove/rounding_operation.h"

namespace sextant::oracle {
namespace {

constexpr size_t kScale = 0, kCodes = 1;

struct BlockShape {
  size_t A, G, M;
  explicit BlockShape(const Shape& x) : A(x[1]), G(x[2]), M(x[3]) {}
  size_t BlockOf(size_t flat) const { return flat / (A * G * M) * G + flat / M % G; }
};

bool HasLeast(const Case& c) { return NumberOf(c, "least", 0) > 0; }
bool HasPowers(const Case& c) { return IsPower(c.operation().ChoiceOf(kScale)); }

double LimitOf(const Case& c, const Response& y) {
  return NumberOf(c, "limit", MaxFinite(y.outputs[kCodes].dtype));
}

// Codes are judged by the answered scale itself: a power of two, or one of 8 bits.
bool HasExactScale(const Case& c, const Response& y) {
  return HasPowers(c) || TextOf(c, "scale_rule") == "one" || SizeOf(y.outputs[kScale].dtype) == 1;
}

// Of each element, x / scale, unless it is limited: the code is within half a step of it.
Comparisons CheckNearCodes(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs);
  const BlockShape shape(inputs[0].values.shape);
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(kCodes); ++i) {
    const size_t block = shape.BlockOf(i);
    const double scale = y.outputs[kScale].values.data[block], x = inputs[0].values.data[i];
    if (scale == 0) continue;  // x / 0
    const double of_tensor = inputs.size() > 1 ? inputs[1].values.data[0] : 1;
    if (HasExactScale(c, y) && std::abs(x) > LimitOf(c, y) * scale * of_tensor) continue;
    const Measured by = (HasExactScale(c, y) ? Measured(scale) : y(kScale, block)) * of_tensor;
    comparisons.Equal(y(kCodes, i) * by, x, {y, kCodes, i});
  }
  return comparisons;
}

// The largest code of a block is the limit: the scale wastes no range.
Comparisons CheckLargestCode(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs);
  if (HasLeast(c) || HasExactScale(c, y)) return {};
  const BlockShape shape(inputs[0].values.shape);
  const std::vector<double>& x = inputs[0].values.data;
  std::vector<size_t> largest(y.size(kScale), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    size_t& at = largest[shape.BlockOf(i)];
    if (x[i] != 0 && (at == x.size() || std::abs(x[i]) > std::abs(x[at]))) at = i;
  }
  const double limit = LimitOf(c, y);
  Comparisons comparisons;
  for (const size_t i : largest) {
    if (i == x.size()) continue;
    const double code = std::copysign(RoundTo(y.outputs[kCodes].dtype, limit), x[i]);
    comparisons.Equal(y(kCodes, i), code, {y, kCodes, i});
  }
  return comparisons;
}

// -x gives the same scale and -codes.
Comparisons CheckQuantizedSign(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs), mirrored = ask(c, Multiplied(inputs, {"x"}, -1));
  Comparisons comparisons;
  for (size_t b = 0; b < y.size(kScale); ++b)
    comparisons.Equal(y(kScale, b), mirrored(kScale, b), {mirrored, kScale, b});
  for (size_t i = 0; i < y.size(kCodes); ++i)
    comparisons.Equal(y(kCodes, i) * -1, mirrored(kCodes, i), {mirrored, kCodes, i});
  return comparisons;
}

// Twice x gives twice the scale and the same codes; with twice the scale of the tensor the same
// scale, too.
Comparisons CheckQuantizedTwice(const Case& c, const Tensors& inputs, const Ask& ask) {
  const bool has_tensor_scale = inputs.size() > 1;
  const Response y = ask(c, inputs);
  if (HasLeast(c) || (!has_tensor_scale && !HasPowers(c) && HasExactScale(c, y))) return {};
  const Response doubled = ask(c, has_tensor_scale ? Multiplied(inputs, {"x", "tensor_scale"}, 2)
                                                   : Multiplied(inputs, {"x"}, 2));
  // A power of two at an end of its type may be that of a smaller or larger number.
  const DType type = y.outputs[kScale].dtype;
  const auto is_at_end = [&](size_t b) {
    const double scale = y.outputs[kScale].values.data[b];
    return HasPowers(c) && (scale == MinSubnormal(type) || 2 * scale > MaxFinite(type));
  };
  const BlockShape shape(inputs[0].values.shape);
  Comparisons comparisons;
  for (size_t b = 0; b < y.size(kScale); ++b) {
    if (is_at_end(b)) continue;
    comparisons.Equal(y(kScale, b) * (has_tensor_scale ? 1 : 2), doubled(kScale, b),
                      {doubled, kScale, b});
  }
  for (size_t i = 0; i < y.size(kCodes); ++i)
    if (!is_at_end(shape.BlockOf(i)))
      comparisons.Equal(y(kCodes, i), doubled(kCodes, i), {doubled, kCodes, i});
  return comparisons;
}

struct MutatedQuantize : Quantize {
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

  double Wrong(double t) const {
    const DType type = rounded_dtype;
    const double unit = UlpOf(type, t), y = Chosen(ChoiceOf(kRoundedOutput), type, t);
    const double most = std::copysign(Limit(), t);
    const auto within = [&](double code) { return std::clamp(code, -Limit(), Limit()); };
    switch (mutation) {
      case Mutation::kTruncated:
        return std::trunc(t / unit) * unit;
      case Mutation::kHalfUp:
        return within(std::floor(t / unit + 0.5) * unit);
      case Mutation::kFlushed:
        return std::abs(y) < PowerOfTwo(GridOf(type).min_exponent) ? 0 : y;
      case Mutation::kTopLost:
        return std::abs(y) >= PowerOfTwo(GridOf(type).max_exponent)
                   ? std::copysign(NextDown(type, PowerOfTwo(GridOf(type).max_exponent)), most)
                   : y;
      case Mutation::kOtherBias:
        return y / 2;
      default:
        return y;
    }
  }
  bool IsOfCodes() const {
    return mutation >= Mutation::kTruncated && mutation <= Mutation::kOtherBias;
  }

  // What takes the place of x where the largest number of a block is looked for.
  Tensor<double> LookedAt(const Tensor<double>& x) const {
    Tensor<double> other = x;
    const size_t A = x.shape[1], G = x.shape[2], M = x.shape[3];
    for (size_t i = 0; i < x.data.size(); ++i) {
      const size_t m = i % M, g = i / M % G, a = i / (M * G) % A, n = i / (M * G * A);
      const auto at = [&](size_t row, size_t group) {
        return x.data[((n * A + row) * G + group) * M + m];
      };
      if (mutation == Mutation::kNeighbour) other.data[i] = at(a, (g + 1) % G);
      if (mutation == Mutation::kOfMaximum) other.data[i] = std::max(x.data[i], 0.0);
      if (mutation == Mutation::kOfFirstRow) other.data[i] = at(0, g);
      if (mutation == Mutation::kOfRow)
        for (size_t group = 0; group < G; ++group)
          if (std::abs(at(a, group)) > std::abs(other.data[i])) other.data[i] = at(a, group);
    }
    return other;
  }

  template <class Real>
  void operator()(const Tensor<double>& x, const Tensor<Real>* tensor_scale, Tensor<Real>& scale,
                  Tensor<Real>& codes) const {
    const double unit = tensor_scale ? ValueOf((*tensor_scale)(0)) : 1;
    Quantize::operator()(x, mutation == Mutation::kNoTensorScale ? nullptr : tensor_scale, scale,
                         codes);
    if (IsOfCodes())
      for (Real& code : codes.data)
        if (const double t = ValueOf(code); std::isfinite(t)) code = Real(Wrong(t), rounded_dtype);
    const ScopedStep at(Step::kQuantize);
    if (mutation >= Mutation::kNeighbour) {
      const Real most(Limit());
      const Tensor<double> other = LookedAt(x);
      Tensor<Real> unused = codes;
      if (mutation >= Mutation::kOfMaximum || mutation == Mutation::kNeighbour) {
        Tensor<Real> of_other = scale;
        Quantize::operator()(other, tensor_scale, of_other, unused);
        for (Real& s : of_other.data) s = Used(s);
        if (mutation != Mutation::kNeighbour) scale = of_other;
        const BlockShape shape(x.shape);
        for (size_t i = 0; i < codes.data.size(); ++i)
          codes.data[i] =
              Limited(Converted(Real(x.data[i])) / (of_other.data[shape.BlockOf(i)] * Real(unit)));
      } else {
        const BlockShape shape(x.shape);
        for (size_t i = 0; i < codes.data.size(); ++i) {
          const Real s = Used(scale.data[shape.BlockOf(i)]) * Real(unit);
          const Real number = Converted(Real(x.data[i]));
          codes.data[i] = Limited(mutation == Mutation::kTwice ? number / s / s : number);
        }
      }
      return;
    }
    if (mutation == Mutation::kPairsExchanged) ExchangePairs(codes);
    if (mutation == Mutation::kUnroundedScale && SizeOf(scale_dtype) == 1 &&
        !IsPower(ChoiceOf(kScale)))
      for (size_t i = 0; i < codes.data.size(); ++i)
        codes.data[i] = Limited(Converted(Real(x.data[i])) /
                                (scale.data[BlockShape(x.shape).BlockOf(i)] * Real(unit)));
    for (Real& s : scale.data) {
      if (mutation == Mutation::kDoubled) s = s * Real(2.0);
      if (mutation == Mutation::kInverse) s = Real(1.0) / s;
      if (mutation == Mutation::kTimesTensorScale && tensor_scale) s = s * Real(unit) * Real(unit);
      if (mutation == Mutation::kBF16) s = ConvertedTo(DType::kBF16, s);
    }
  }

 private:
  // The scale by which numbers are divided, of what decides it.
  template <class Real>
  Real Used(const Real& s) const {
    const Choice choice = SizeOf(scale_dtype) > 1 || IsPower(ChoiceOf(kScale))
                              ? ChoiceOf(kScale)
                              : Choice::kNearestEven;
    return choice == Choice::kNone ? s : Real(Chosen(choice, scale_dtype, ValueOf(s)));
  }
  template <class Real>
  Real Limited(const Real& t) const {
    const double x = ValueOf(t);
    return std::abs(x) <= Limit() ? t : std::isnan(x) ? t : Real(std::copysign(Limit(), x));
  }
};

std::vector<Defect> QuantizeDefects() {
  using Mutation = MutatedQuantize::Mutation;
  return MutatedFormulas<MutatedQuantize, &MutatedQuantize::mutation,
                         RoundingOperation<MutatedQuantize>>({
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
      {"largest_without_magnitude", "the scale is that of the largest x, not of the largest |x|",
       Mutation::kOfMaximum},
      {"scale_of_row", "all groups of a row have the scale of the row", Mutation::kOfRow, true},
      {"scale_of_first_row", "the scale of a block is that of its first row",
       Mutation::kOfFirstRow},
  });
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Quantize>() {
  return {
      .properties = {{"near", "code times scale is within half a step of x", CheckNearCodes},
                     {"whole_range", "the largest code of a block is the limit", CheckLargestCode},
                     {"odd", "-x gives the same scale and -codes", CheckQuantizedSign},
                     {"scaled", "2 x gives twice the scale and the same codes",
                      CheckQuantizedTwice}},
      .defects = QuantizeDefects()};
}

}  // namespace sextant::oracle
