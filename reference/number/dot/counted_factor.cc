#include "reference/number/dot/counted_factor.h"

#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/tf32.h"

namespace sextant {
namespace {

bool IsTf32(const Counted& x) {
  if (x.format() && IsWithinTf32(*x.format())) return true;
  const double value = x.center().high;
  return x.IsExact() && x.center().low == 0 && IsRepresentable(DType::kF32, value) &&
         FactorOf(Factors::kTf32Truncated, value) == value;
}

}  // namespace

Counted ConvertedFactor(const Counted& x) {
  const Factors factors = CurrentRule().factors;
  if (factors == Factors::kWhole || IsTf32(x)) return Converted(x);
  const Counted converted = Converted(x);
  const double error = FactorError(factors, converted.Magnitude() + converted.error());
  return converted.WithError({converted.error() + error, converted.likely() + error});
}

}  // namespace sextant
