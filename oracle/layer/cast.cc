#include "reference/layer/cast.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {
namespace {

// In ascending order x gives y in ascending order, apart from the NaN of overflow=nan.
Comparisons CheckAscending(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors sorted = inputs;
  std::vector<double>& x = sorted[0].values.data;
  std::ranges::replace_if(
      x, [](double number) { return std::isnan(number); }, 0.0);
  std::ranges::sort(x);
  const Response y = ask(c, sorted);
  const bool may_be_nan = TextOf(c, "overflow") == "nan";
  Comparisons comparisons;
  std::optional<size_t> before;
  for (size_t i = 0; i < y.size(); ++i) {
    if (std::isnan(y.outputs[0].values.data[i])) {
      if (!may_be_nan) comparisons.AtMost(y(0, i), 0, {y, 0, i});
      continue;
    }
    if (before) comparisons.AtMost(y(0, *before), y(0, i), {y, 0, i});
    before = i;
  }
  return comparisons;
}

// y is a value of its type, which converts to itself.
Comparisons CheckOwnValues(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs);
  const std::string type(NameOf(y.outputs[0].dtype));
  const Case again = c.WithDrawnInputs().With({"dtype=" + type, "dtype.y=" + type});
  const Response same = ask(again, {{"x", y.outputs[0].dtype, y.outputs[0].values}});
  return EachEqual(same, [&](size_t i) { return y(0, i); });
}

Comparisons CheckOdd(const Case& c, const Tensors& inputs, const Ask& ask) {
  const auto negated = [type = inputs[0].dtype](double x) { return RoundTo(type, -x); };
  const Response y = ask(c, inputs), negative = ask(c, Mapped(inputs, "x", negated));
  return EachEqual(negative, [&](size_t i) {
    return std::isnan(y.outputs[0].values.data[i]) ? y(0, i) : -y(0, i);
  });
}

// The type of the same size whose exponents have a bias that differs by one; else the type itself.
DType OtherBias(DType type) {
  switch (type) {
    case DType::kF8E4M3FN:
      return DType::kF8E4M3FNUZ;
    case DType::kF8E4M3FNUZ:
      return DType::kF8E4M3FN;
    case DType::kF8E5M2:
      return DType::kF8E5M2FNUZ;
    case DType::kF8E5M2FNUZ:
      return DType::kF8E5M2;
    default:
      return type;
  }
}

// What is stored with one mutation.
struct MutatedCast : Cast {
  enum class Mutation {
    kNone,
    kHalfUp,          // a tie rounds up
    kHalfAway,        // a tie rounds away from 0
    kTruncated,       // rounds towards 0
    kTwice,           // rounds to f16 first
    kFlushed,         // a subnormal result is 0
    kTopLost,         // the largest exponent counts as that of infinity and NaN
    kOtherBias,       // the pattern of the type with another bias
    kNanLost,         // NaN is the largest number, with the sign of the NaN
    kNanZero,         // NaN is 0
    kNanRounded,      // NaN is rounded to bf16 as a number is
    kInfinityFinite,  // an infinity is the largest number
    kInfinityNan,     // finite numbers saturate, and an infinity is NaN
    kMinusZeroLost,   // 0 instead of -0
    kSignLost,        // |x|
    kPairsExchanged   // the numbers of each pair in a row are exchanged
  } mutation{};

  // A number on the grid, as the type stores it if it is not too large.
  double Overflowing(DType type, double y, double x) const {
    if (std::abs(y) <= MaxFinite(type)) return std::copysign(y, x);
    return CastTo(type, overflow, std::copysign(kInfinity, x));
  }
  double RoundedBy(DType type, double x) const {
    const double unit = UlpOf(type, x), units = x / unit;
    switch (mutation) {
      case Mutation::kHalfUp:
        return Overflowing(type, std::floor(units + 0.5) * unit, x);
      case Mutation::kHalfAway:
        return Overflowing(type, std::round(units) * unit, x);
      default:
        return Overflowing(type, std::trunc(units) * unit, x);
    }
  }
  double Right(DType type, double x) const { return CastTo(type, overflow, x); }
  double Wrong(DType type, double x) const {
    const double largest = std::copysign(MaxFinite(type), x);
    switch (mutation) {
      case Mutation::kHalfUp:
      case Mutation::kHalfAway:
      case Mutation::kTruncated:
        return type == DType::kF64 || !std::isfinite(x) ? Right(type, x) : RoundedBy(type, x);
      case Mutation::kTwice:
        return SizeOf(type) > 1 ? Right(type, x) : Right(type, RoundTo(DType::kF16, x));
      case Mutation::kFlushed: {
        const double y = Right(type, x);
        return std::abs(y) < PowerOfTwo(GridOf(type).min_exponent) ? RoundTo(type, 0 * y) : y;
      }
      case Mutation::kTopLost:
        return std::abs(x) >= PowerOfTwo(GridOf(type).max_exponent) ? largest : Right(type, x);
      case Mutation::kOtherBias: {
        const DType other = OtherBias(type);
        const Overflow as = overflow == Overflow::kSaturate ? overflow
                            : HasInfinity(other)            ? Overflow::kInf
                                                            : Overflow::kNan;
        return DecodeBits(type, EncodeBits(other, CastTo(other, as, x)));
      }
      case Mutation::kNanLost:
        return std::isnan(x) ? largest : Right(type, x);
      case Mutation::kNanZero:
        return std::isnan(x) ? 0 : Right(type, x);
      case Mutation::kNanRounded: {
        if (type != DType::kBF16 || !std::isnan(x)) return Right(type, x);
        const auto bits = static_cast<uint32_t>(EncodeBits(DType::kF32, x));
        return DecodeBits(type, (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
      }
      case Mutation::kInfinityFinite:
        return std::isinf(x) ? largest : Right(type, x);
      case Mutation::kInfinityNan:
        return std::isinf(x) ? kNaN : CastTo(type, Overflow::kSaturate, x);
      case Mutation::kMinusZeroLost:
        return Right(type, x) + 0.0;
      case Mutation::kSignLost:
        return std::abs(Right(type, x));
      default:
        return Right(type, x);
    }
  }
  template <class Real>
  void operator()(const Tensor<Real>& x, Tensor<Real>& y) const {
    Cast::operator()(x, y);
    if (mutation != Mutation::kPairsExchanged) return;
    const size_t M = x.shape[1];
    for (size_t i = 0; i + 1 < y.data.size(); ++i) {
      if (i % M % 2 == 0 && i % M + 1 < M) std::swap(y.data[i], y.data[i + 1]);
    }
  }
  template <class Real>
  Real Stored(DType type, const Real& x) const {
    if (mutation == Mutation::kNone) return Cast::Stored(type, x);
    return Real(Wrong(type, ValueOf(x)), type);
  }
};

std::vector<Defect> CastDefects() {
  using Mutation = MutatedCast::Mutation;
  return MutatedFormulas<MutatedCast>(
      {{"half_up", "a tie rounds up, not to even", Mutation::kHalfUp},
       {"half_away",
        "a tie rounds away from 0, not to even: half a unit is added to the magnitude "
        "(sgl-project/sglang#40581)",
        Mutation::kHalfAway},
       {"truncated", "the bits that the type lacks are cut off", Mutation::kTruncated},
       {"rounded_twice", "x is rounded to f16, and then to 8 bits", Mutation::kTwice},
       {"subnormals_flushed", "a subnormal result is 0", Mutation::kFlushed},
       {"top_binade_lost",
        "numbers with the largest exponent become the largest number, as if that were the exponent "
        "of infinity and NaN (sgl-project/sglang#40581; ggml_fp32_to_ue4m3)",
        Mutation::kTopLost},
       {"other_bias", "the exponent has the bias of the fnuz type instead of the other, or back",
        Mutation::kOtherBias},
       {"nan_lost",
        "NaN becomes the largest number with its sign, as if it were a number beyond the type",
        Mutation::kNanLost},
       {"nan_zero", "NaN becomes 0, as conversions to integers do with it", Mutation::kNanZero},
       {"nan_rounded",
        "NaN is rounded to bf16 as a number is: a payload of ones carries into the sign and gives "
        "a zero",
        Mutation::kNanRounded},
       {"infinity_finite", "an infinity becomes the largest number", Mutation::kInfinityFinite},
       {"infinity_nan",
        "finite numbers saturate, and an infinity becomes NaN (PyTorch's e4m3fn from 2.12 on)",
        Mutation::kInfinityNan},
       {"minus_zero_lost", "0 instead of -0", Mutation::kMinusZeroLost},
       {"sign_lost", "the magnitude of x is converted", Mutation::kSignLost},
       {"pairs_exchanged",
        "the two numbers of a packed pair are exchanged: NVIDIA's cvt to e4m3x2 puts its first "
        "operand into the upper half",
        Mutation::kPairsExchanged, true}});
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Cast>() {
  return {
      .properties = {{"monotone", "a larger x gives no smaller y", CheckAscending},
                     {"own_values", "a value of the type of y converts to itself", CheckOwnValues},
                     {"odd", "-x gives -y", CheckOdd}},
      .defects = CastDefects()};
}

}  // namespace sextant::oracle
