#include "oracle/property/measured.h"

#include "reference/number/exact/boost_real.h"

namespace sextant::oracle {

// Half an ulp of a normal number is at most 2^-53 times the number. The factor 1 + 2^-50 covers the
// error before the rounding to double.
Measured Nearest(double value) {
  return {value, std::abs(value) * 0x1p-53 * (1 + 0x1p-50) + 0x1p-1074};
}

Measured LogOf(double x) { return Nearest(Log(BoostReal(x)).High()); }

}  // namespace sextant::oracle
