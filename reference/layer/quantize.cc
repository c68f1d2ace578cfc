#include "reference/layer/quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference/base/error.h"
#include "reference/base/value_text.h"
#include "reference/case/intermediate.h"
#include "reference/case/operation.h"
#include "reference/layer/code_blocks.h"
#include "reference/number/any_of.h"
#include "reference/number/clamp.h"
#include "reference/number/lanes/each_number.h"
#include "reference/number/real.h"
#include "reference/number/value_of.h"
#include "reference/prove/rounding_operation.h"

namespace sextant {
namespace {

// The largest magnitude of a block, and `least`. NaN if a number is NaN or infinite.
double LargestOf(const Tensor<double>& x, size_t n, size_t g, double least) {
  double largest = least;
  ForBlock(x.shape, n, g, [&](size_t flat) {
    const double size = std::abs(x.data[flat]);
    if (!(size <= largest)) largest = std::isnan(size) ? kInfinity : size;
  });
  return std::isfinite(largest) ? largest : kNaN;
}
// The same for numbers that a formula computed.
template <class Real>
Real LargestOf(const Tensor<Real>& x, size_t n, size_t g, double least) {
  Real largest(least);
  bool is_finite = true;
  ForBlock(x.shape, n, g, [&](size_t flat) {
    is_finite = is_finite && std::isfinite(ValueOf(x.data[flat]));
    if (is_finite) largest = Max(largest, Max(x.data[flat], -x.data[flat]));
  });
  return is_finite ? largest : Real(kNaN);
}

// True if numbers are not multiplied by a reciprocal.
template <class Real>
bool Divides() {
  if constexpr (RealArithmetic<Real>)
    return true;
  else
    return CurrentRule().form == Form::kDivide;
}

// A block: by what it is divided, and its largest magnitude.
template <class Real>
struct Block {
  Real scale, largest, limit, largest_code;
  bool is_unrounded;  // the scale is limit / largest, times the scale of the tensor
  bool may_invert;    // codes may be x * (limit / largest), whatever the scale is rounded to

  // x / scale. A tie is exact only without the rounding of the scale.
  Real Divided(const Real& x) const {
    if constexpr (RealArithmetic<Real>) return is_unrounded ? x * limit / largest : x / scale;
    return x / scale;
  }
  // What numbers are multiplied by: 1 / scale. For Counted any number that the recipe permits, also
  // limit / largest, which may be another number: the scale is rounded.
  Real Factor() const {
    const bool is_inverse = may_invert && CurrentRule().form == Form::kInverse;
    return is_inverse ? limit / largest : Converted(Real(1.0)) / scale;
  }
};

template <>
Counted Block<Counted>::Factor() const {
  const Form form = CurrentRule().form;
  const Counted reciprocal = Converted(Counted(1.0)) / scale;
  if (form == Form::kReciprocal || !may_invert) return reciprocal;
  const Counted inverse = limit / largest;
  const auto [a, b] = std::pair(reciprocal.center(), inverse.center());
  const bool is_same = a.high == b.high && a.low == b.low;
  const double moved = is_same
                           ? 0
                           : std::abs((b.high - a.high) + (b.low - a.low)) +
                                 std::abs(b.high) * 0x1p-51 + reciprocal.drift() + inverse.drift();
  Counted::Bounds bounds{inverse.error() + moved, inverse.likely() + moved};
  if (form == Form::kDefault) {
    bounds.worst = std::max(bounds.worst, reciprocal.error());
    bounds.likely = std::max(bounds.likely, reciprocal.likely());
  }
  // Without a largest number (NaN in x) any factor is possible.
  if (std::isnan(bounds.worst)) bounds = {kInfinity, kInfinity};
  return reciprocal.WithError(bounds);
}

// largest / limit. For Counted also largest * (1 / limit) and 1 / (limit / largest), unless the
// recipe says that it divides.
template <class Real>
Real ScaleOf(const Real& largest, const Real& limit) {
  return largest / limit;
}
template <>
Counted ScaleOf(const Counted& largest, const Counted& limit) {
  const Counted quotient = largest / limit, one = Converted(Counted(1.0));
  if (CurrentRule().form == Form::kDivide || largest.IsZero()) return quotient;
  return AnyOf(quotient, {largest * (one / limit), one / (limit / largest)});
}

// scale / of_tensor. A kernel may have been given 1 / of_tensor.
template <class Real>
Real InUnitsOf(const Real& of_tensor, const Real& scale) {
  const Real quotient = scale / of_tensor;
  if (Divides<Real>()) return quotient;
  return AnyOf(quotient, {scale * (Converted(Real(1.0)) / of_tensor)});
}

// scale * of_tensor, likewise.
template <class Real>
Real TimesTensorScale(const Real& scale, const Real& of_tensor) {
  const Real product = scale * of_tensor, one = Converted(Real(1.0));
  if (Divides<Real>()) return product;
  return AnyOf(product, {scale * (one / (one / of_tensor))});
}

// x rounded to as many bits, to nearest and even.
double ToBits(int bits, double x) {
  if (!(x > 0 && std::isfinite(x))) return x;
  const double unit = std::ldexp(1, std::ilogb(x) - (bits - 1));
  return std::nearbyint(x / unit) * unit;
}

// What an implementation may find in place of t: log2 errs by `ulps` of its ulps, which shifts t by
// less than e^d - 1 of itself. Of a power of two it is exact.
template <class Real>
Real ByLogarithm(const Real& t, double) {
  return t;
}
template <>
Counted ByLogarithm(const Counted& t, double amax) {
  const StepRule& rule = CurrentRule();
  if (rule.form != Form::kDefault || rule.exact || t.IsPowerOfTwo() || std::isnan(amax)) return t;
  const int size = std::max(std::abs(ExponentOf(amax)), std::abs(ExponentOf(t.center().high))) + 1;
  const double moved = t.Magnitude() * std::expm1(rule.ulps * UlpOf(rule.format, size));
  return t.WithError({t.error() + moved, t.likely() + moved});
}

// The number that decides a power of two. amax that was rounded to a few bits is a power of two or
// far below the next one, so that no logarithm steps over it.
template <class Real>
Real Decisive(const Quantize& op, double amax, const Real& limit) {
  if (op.scale_rule == ScaleRule::kUp)
    return ByLogarithm(ScaleOf(Converted(Real(amax)), limit), amax);
  const Real t = Converted(Real(op.BeforeFloor(amax)));
  return op.scale_rule == ScaleRule::kEven ? t : ByLogarithm(t, amax);
}
template <class Real>
Real Decisive(const Quantize& op, const Real& amax, const Real& limit) {
  if constexpr (std::same_as<Real, Rounded>) return Decisive(op, ValueOf(amax), limit);
  if (op.scale_rule == ScaleRule::kUp)
    return ByLogarithm(ScaleOf(Converted(amax), limit), ValueOf(amax));
  const Real t = Converted(amax) * Real(PowerOfTwo(-std::ilogb(op.Limit())));
  if (op.scale_rule == ScaleRule::kFloor) return ByLogarithm(t, ValueOf(amax));
  // Rounded to n bits it is the next power of two from 1 - 2^-(n+1) of it on.
  return t / Real(1 - PowerOfTwo(-GridOf(op.rounded_dtype).precision - 1));
}

// The scale that is answered if it is a choice or of 8 bits, of the number that decides it.
double AnsweredScale(const Quantize& op, double amax, double tensor_scale, const auto&) {
  return op.scale_rule == ScaleRule::kQuotient ? op.StoredQuotient(amax, tensor_scale)
                                               : op.PowerFor(amax);
}
template <class Real>
double AnsweredScale(const Quantize& op, const Real&, double, const Real& decisive) {
  const Choice own = op.ChoiceOf(0), choice = IsPower(own) ? own : Choice::kNearestEven;
  const auto chosen = [&](double high, double low) {
    return Chosen(choice, op.scale_dtype, high, low);
  };
  if constexpr (std::same_as<Real, Interval>) {
    if (!decisive.IsSpecified()) return kNaN;
    const auto chosen_of = [&](const Endpoint& end, mpfr_rnd_t outwards) {
      const double high = mpfr_get_d(end.get(), MPFR_RNDN);
      Endpoint low;
      mpfr_sub_d(low.get(), end.get(), high, outwards);
      return chosen(high, mpfr_get_d(low.get(), outwards));
    };
    const double scale = chosen_of(decisive.lower(), MPFR_RNDD);
    if (scale != chosen_of(decisive.upper(), MPFR_RNDU)) throw Undecided{};
    return scale;
  } else if constexpr (std::same_as<Real, Counted>) {
    const auto [high, low] = decisive.center();
    const double drift = decisive.drift();
    if (chosen(high, low - drift) != chosen(high, low + drift)) this_context.uncertain = true;
    return chosen(high, low);
  } else if constexpr (std::same_as<Real, Rounded>) {
    return chosen(decisive.number().high, decisive.number().low);
  } else {
    return chosen(ValueOf(decisive), 0);
  }
}

// The codes of a row of a block before they are rounded. With the recipe's default form a product
// with the factor errs at least as much as the quotient, which is rounded once.
template <class Number, class Real>
void SetCodes(const Block<Real>& block, std::span<const Number> x, std::span<Real> codes) {
  const auto divides = [] {
    if constexpr (RealArithmetic<Real>) return true;
    const Form form = CurrentRule().form;
    return form == Form::kDivide || (form == Form::kDefault && !std::same_as<Real, Counted>);
  };
  if (divides()) {
    for (size_t i = 0; i < x.size(); ++i)
      codes[i] = Clamp(block.Divided(Converted(Real(x[i]))), -block.limit, block.largest_code);
    return;
  }
  const auto function_of = [&, factor = block.Factor()]<class Each>(std::type_identity<Each>) {
    return [by = Each(factor), low = Each(-block.limit), high = Each(block.largest_code)](
               const Each& x) { return Clamp(Converted(x) * by, low, high); };
  };
  std::vector<Real> numbers;
  for (const Number& number : x) numbers.emplace_back(number);
  SetEach(numbers, function_of, numbers);
  std::ranges::copy(numbers, codes.begin());
}

}  // namespace

void Quantize::Check() const {
  if (limit && !(*limit > 0 && std::isfinite(*limit)))
    throw Error("quantize: limit=", PrintValue(*limit), ", expected a number above 0");
  if (!(least >= 0 && std::isfinite(least)))
    throw Error("quantize: least=", PrintValue(least), ", expected 0 or more");
  if (codes_by == CodesBy::kUnrounded && scale_rule != ScaleRule::kQuotient)
    throw Error(
        "quantize: a scale that is a power of two is not rounded, expected "
        "codes_by=stored");
  if (with.Has("tensor_scale") && codes_by == CodesBy::kUnrounded)
    throw Error("quantize: with=tensor_scale, expected codes_by=stored");
  const bool is_one = scale_rule == ScaleRule::kOne;
  if (with.Has("tensor_scale") && scale_rule != ScaleRule::kQuotient && !is_one)
    throw Error("quantize: with=tensor_scale, expected scale_rule=quotient or scale_rule=one");
  if (is_one && (!with.Has("tensor_scale") || least > 0))
    throw Error("quantize: scale_rule=one, expected with=tensor_scale and no least=");
}

double Quantize::BeforeFloor(double amax) const {
  const int bits = GridOf(rounded_dtype).precision;
  return std::ldexp(scale_rule == ScaleRule::kEven ? ToBits(bits, amax) : amax,
                    -std::ilogb(Limit()));
}

double Quantize::PowerFor(double amax) const {
  if (scale_rule != ScaleRule::kUp) return Chosen(ChoiceOf(0), scale_dtype, BeforeFloor(amax));
  const double quotient = amax / Limit(), rest = std::fma(-quotient, Limit(), amax);
  return Chosen(ChoiceOf(0), scale_dtype, quotient, rest);
}

double Quantize::StoredQuotient(double amax, double tensor_scale) const {
  // Both by a power of two, so that the divisor is near the limit.
  const int power = tensor_scale > 0 && std::isfinite(tensor_scale) ? -std::ilogb(tensor_scale) : 0;
  amax = std::ldexp(amax, power);
  tensor_scale = std::ldexp(tensor_scale, power);
  const double divisor = Limit() * tensor_scale, rest = std::fma(Limit(), tensor_scale, -divisor);
  const double quotient = amax / divisor;
  const double low = (std::fma(-quotient, divisor, amax) - quotient * rest) / divisor;
  if (!HasInfinity(scale_dtype) && quotient >= MaxFinite(scale_dtype))
    return MaxFinite(scale_dtype);
  return Chosen(Choice::kNearestEven, scale_dtype, quotient, std::isfinite(low) ? low : 0);
}

void Quantize::CheckTypes(const std::map<std::string, DType>& given) const {
  const auto is_given = [&](const char* tensor) { return given.find(tensor) != given.end(); };
  const DType type = is_given("codes") ? given.at("codes") : rounded_dtype;
  if (is_given("scale") && given.at("scale") == DType::kE8M0 && scale_rule == ScaleRule::kQuotient)
    throw Error(
        "quantize: scales of e8m0 are powers of two, expected scale_rule=, one of: floor "
        "up even");
  if (RowOf(type).patterns == Patterns::kInteger && scale_rule == ScaleRule::kEven)
    throw Error("quantize: scale_rule=even, expected codes of a floating-point type");
  if (is_given("scale") && SizeOf(given.at("scale")) == 1 && codes_by == CodesBy::kUnrounded)
    throw Error("quantize: scales of 8 bits, expected codes_by=stored");
  const double beyond = RowOf(type).patterns == Patterns::kInteger ? 1 : 0;
  if (limit && *limit > MaxFinite(type) + beyond)
    throw Error("quantize: limit=", PrintValue(*limit), " is beyond the largest number of ",
                NameOf(type), ", ", PrintValue(MaxFinite(type)),
                beyond > 0 ? ", by more than 1" : "");
}

template <class Number, class Real>
void Quantize::QuantizeNumbers(const Tensor<Number>& x, const Tensor<Real>* tensor_scale,
                               Tensor<Real>& scale, Tensor<Real>& codes) const {
  const size_t N = x.shape[0], A = x.shape[1], G = x.shape[2], M = x.shape[3];
  const ScopedStep at(Step::kQuantize);
  const Real most = Converted(Real(Limit()));
  const bool is_quotient = scale_rule == ScaleRule::kQuotient,
             is_one = scale_rule == ScaleRule::kOne;
  const bool is_narrow = codes_by == CodesBy::kStored && !Contains(scale_dtype, DType::kF32);
  const bool may_invert = is_quotient && !is_narrow;
  const NamedTensor* const answer =
      codes_by == CodesBy::kStored ? ScopedOutputs::AnswerFor(&scale) : nullptr;
  // A scale of 8 bits errs by per cents: codes without an answer are those of the right one.
  const bool is_coarse = is_quotient && SizeOf(scale_dtype) == 1;
  const double of_tensor = tensor_scale ? ValueOf((*tensor_scale)(0)) : 1;
  const Real unit = of_tensor > 0 && std::isfinite(of_tensor) && tensor_scale
                        ? Converted((*tensor_scale)(0))
                        : Real(tensor_scale ? kNaN : 1.0);
  const std::span<const Number> numbers = x.data;
  for (size_t n = 0; n < N; ++n) {
    for (size_t g = 0; g < G; ++g) {
      const Number largest = is_one ? Number(1.0) : LargestOf(x, n, g, least);
      const Real of_block = Converted(Real(largest));
      scale(n, g) = is_one        ? Real(1.0)
                    : is_quotient ? ScaleOf(of_block, most)
                                  : Decisive(*this, largest, most);
      if (tensor_scale && !is_one) scale(n, g) = InUnitsOf(unit, scale(n, g));
      if (is_quotient && !HasInfinity(scale_dtype))
        scale(n, g) = Clamp(scale(n, g), Real(0.0), Real(MaxFinite(scale_dtype)));
      Real used = scale(n, g);
      const auto set_used = [&](double s) { used = s == 0 ? Real(kNaN) : Real(s, scale_dtype); };
      if (answer) {
        set_used(answer->values.data[n * G + g]);
      } else if (is_one) {
        set_used(1);
      } else if (!is_quotient || is_coarse) {
        set_used(AnsweredScale(*this, largest, of_tensor, scale(n, g)));
      } else if (codes_by == CodesBy::kStored) {
        const ScopedStore stored(scale_dtype);
        used = Converted(used);
      }
      if (tensor_scale) used = TimesTensorScale(used, unit);
      const bool is_unrounded = is_quotient && !is_coarse && !answer;
      const Block<Real> block{used,         of_block,
                              most,         Converted(Real(LargestCode())),
                              is_unrounded, may_invert && !tensor_scale};
      for (size_t a = 0; a < A; ++a) {
        const size_t first = ((n * A + a) * G + g) * M;
        SetCodes(block, numbers.subspan(first, M), std::span<Real>(codes.data).subspan(first, M));
      }
    }
  }
}

template <class Real>
void Quantize::operator()(const Tensor<double>& x, const Tensor<Real>* tensor_scale,
                          Tensor<Real>& scale, Tensor<Real>& codes) const {
  QuantizeNumbers(x, tensor_scale, scale, codes);
}

template <class Real>
void Quantize::QuantizeStored(Tensor<Real> y, const Tensor<Real>* tensor_scale, Tensor<Real>& scale,
                              Tensor<Real>& codes) const {
  const Shape of_scale = scale.shape, of_codes = codes.shape;
  scale.shape = {y.shape[0], y.shape[2]};
  codes.shape = y.shape;
  QuantizeNumbers(Stored(std::move(y)), tensor_scale, scale, codes);
  scale.shape = of_scale;
  codes.shape = of_codes;
}

template void Quantize::QuantizeStored(Tensor<Interval>, const Tensor<Interval>*, Tensor<Interval>&,
                                       Tensor<Interval>&) const;
template void Quantize::QuantizeStored(Tensor<Counted>, const Tensor<Counted>*, Tensor<Counted>&,
                                       Tensor<Counted>&) const;
template void Quantize::QuantizeStored(Tensor<Rounded>, const Tensor<Rounded>*, Tensor<Rounded>&,
                                       Tensor<Rounded>&) const;
template void Quantize::QuantizeStored(Tensor<BoostReal>, const Tensor<BoostReal>*,
                                       Tensor<BoostReal>&, Tensor<BoostReal>&) const;

template <>
std::unique_ptr<Operation> MakeOperation<Quantize>() {
  return std::make_unique<RoundingOperation<Quantize>>();
}

}  // namespace sextant
