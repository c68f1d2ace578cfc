#include "reference/number/tensor/dtype.h"

#include "reference/base/value_text.h"

namespace sextant {
namespace {

constexpr int kBiasOfDouble = 1023, kFractionOfDouble = 52;  // bits

uint64_t SignOf(DType type) { return uint64_t{1} << (RowOf(type).bits - 1); }

// The fields of a pattern: the sign, the exponent with a bias, the significand without its first
// bit.
struct Fields {
  explicit Fields(DType type)
      : sign(SignOf(type)),
        fraction(GridOf(type).precision - 1),
        infinity((sign - 1) >> fraction << fraction),
        rebias(static_cast<uint64_t>(kBiasOfDouble - (1 - GridOf(type).min_exponent)) << fraction) {
  }
  uint64_t sign;
  int fraction;
  uint64_t infinity;  // in types with Patterns::kIeee
  uint64_t rebias;    // what the exponent of a double has more
};

constexpr uint64_t kQuiet = uint64_t{1} << (kFractionOfDouble - 1);

uint64_t EncodedNaN(DType type, double x) {
  if (!HasNaN(type)) return 0;
  const Fields fields(type);
  const uint64_t sign = std::signbit(x) ? fields.sign : 0;
  switch (RowOf(type).patterns) {
    case Patterns::kIeee: {
      const uint64_t fraction = (std::bit_cast<uint64_t>(x) | kQuiet) & (2 * kQuiet - 1);
      return sign | fields.infinity | fraction >> (kFractionOfDouble - fields.fraction);
    }
    case Patterns::kFn:
      return sign | (fields.sign - 1);
    case Patterns::kFnuz:
      return fields.sign;
    case Patterns::kPower:
      return 2 * fields.sign - 1;
    case Patterns::kFinite:
    case Patterns::kInteger:
      break;
  }
  std::abort();
}

// The NaN of f64 with that sign, and with the payload of `fraction`, which has `bits` bits.
double DecodedNaN(bool negative, uint64_t fraction, int bits) {
  const uint64_t payload = (fraction << (kFractionOfDouble - bits)) & (2 * kQuiet - 1);
  const double nan = std::bit_cast<double>(std::bit_cast<uint64_t>(kNaN) | payload);
  return negative ? -nan : nan;
}

// Orders the values of a grid by consecutive integers: 0 for zero, negative for negative values.
int64_t Ordinal(DType type, double x) {
  if (RowOf(type).patterns == Patterns::kInteger) return static_cast<int64_t>(x);
  if (RowOf(type).patterns == Patterns::kPower) return static_cast<int64_t>(EncodeBits(type, x));
  const uint64_t sign = SignOf(type), bits = EncodeBits(type, x);
  const int64_t magnitude = static_cast<int64_t>(bits & (sign - 1));
  return (bits & sign) ? -magnitude : magnitude;
}

// One step beyond the largest finite value of a type without infinities is NaN.
double FromOrdinal(DType type, int64_t ordinal) {
  const auto is_beyond = [&] {
    return ordinal < Ordinal(type, Lowest(type)) || ordinal > Ordinal(type, MaxFinite(type));
  };
  if (!HasInfinity(type) && is_beyond()) return kNaN;
  if (RowOf(type).patterns == Patterns::kInteger) return static_cast<double>(ordinal);
  const uint64_t sign = SignOf(type);
  return DecodeBits(
      type, ordinal < 0 ? sign | static_cast<uint64_t>(-ordinal) : static_cast<uint64_t>(ordinal));
}

}  // namespace

DType ParseDType(std::string_view name) {
  std::array<std::string_view, kDTypes.size()> names;
  std::ranges::transform(kDTypes, names.begin(), NameOf);
  return kDTypes[IndexIn(names, name)];
}

double RoundExtraordinary(DType type, double x) {
  double rounded = x;
  if (x != 0 && std::isfinite(x)) {
    const double quantum = UlpOf(type, x);
    rounded = std::nearbyint(x / quantum) * quantum;
  }
  if (rounded > MaxFinite(type) || rounded < std::min(Lowest(type), 0.0))
    return HasInfinity(type) ? std::copysign(kInfinity, x) : kNaN;
  const Patterns patterns = RowOf(type).patterns;
  const bool has_minus_zero = patterns != Patterns::kFnuz && patterns != Patterns::kInteger;
  return has_minus_zero ? rounded : rounded + 0.0;
}

double ExtraordinaryRoundingError(DType type, double x) {
  x = std::abs(x);
  if (x == 0) return 0;
  if (!std::isfinite(RoundTo(type, x))) return kInfinity;
  // A number below half the smallest subnormal is rounded to 0: it errs by itself.
  const double half = std::max(UlpOf(type, x) / 2, std::numeric_limits<double>::denorm_min());
  return std::min(half, x);  // half the spacing of f64's subnormals is not a double
}

double NextUp(DType type, double x) { return FromOrdinal(type, Ordinal(type, x) + 1); }
double NextDown(DType type, double x) { return FromOrdinal(type, Ordinal(type, x) - 1); }

uint64_t UlpDistance(DType type, double a, double b) {
  const int64_t from = Ordinal(type, a), to = Ordinal(type, b);
  return from < to ? static_cast<uint64_t>(to) - static_cast<uint64_t>(from)
                   : static_cast<uint64_t>(from) - static_cast<uint64_t>(to);
}

uint64_t EncodeBits(DType type, double x) {
  if (std::isnan(x)) return EncodedNaN(type, x);
  if (RowOf(type).patterns == Patterns::kInteger)
    return static_cast<uint64_t>(static_cast<int64_t>(x)) & (2 * SignOf(type) - 1);
  if (RowOf(type).patterns == Patterns::kPower)
    return static_cast<uint64_t>(ExponentOf(x) - GridOf(type).min_exponent);
  const Fields fields(type);
  const double magnitude = std::abs(x);
  uint64_t bits = fields.infinity;
  if (ExponentOf(x) < GridOf(type).min_exponent) {
    bits = static_cast<uint64_t>(magnitude / MinSubnormal(type));
  } else if (std::isfinite(x)) {
    const auto of_double = std::bit_cast<uint64_t>(magnitude);
    bits = (of_double >> (kFractionOfDouble - fields.fraction)) - fields.rebias;
  }
  if (bits == 0 && RowOf(type).patterns == Patterns::kFnuz) return 0;
  return std::signbit(x) ? fields.sign | bits : bits;
}

double DecodeBits(DType type, uint64_t bits) {
  const uint64_t all = 2 * SignOf(type) - 1;
  bits &= all;
  if (RowOf(type).patterns == Patterns::kInteger)  // the sign has a negative weight
    return static_cast<double>(static_cast<int64_t>((bits & all / 2) - (bits & SignOf(type))));
  if (RowOf(type).patterns == Patterns::kPower)
    return bits == all ? kNaN : PowerOfTwo(static_cast<int>(bits) + GridOf(type).min_exponent);
  const Fields fields(type);
  const uint64_t magnitude = bits & (fields.sign - 1);
  const double sign = bits & fields.sign ? -1 : 1;
  switch (RowOf(type).patterns) {
    case Patterns::kIeee:
      if (magnitude == fields.infinity) return sign * kInfinity;
      if (magnitude > fields.infinity) return DecodedNaN(sign < 0, magnitude, fields.fraction);
      break;
    case Patterns::kFn:
      if (magnitude == fields.sign - 1) return DecodedNaN(sign < 0, 0, 0);
      break;
    case Patterns::kFnuz:
      if (bits == fields.sign) return kNaN;
      break;
    case Patterns::kFinite:
    case Patterns::kInteger:
    case Patterns::kPower:
      break;
  }
  if (magnitude >> fields.fraction == 0)
    return sign * (static_cast<double>(magnitude) * MinSubnormal(type));
  const uint64_t of_double = (magnitude + fields.rebias) << (kFractionOfDouble - fields.fraction);
  return sign * std::bit_cast<double>(of_double);
}

}  // namespace sextant
