#include "reference/number/rounded/stochastic_rounding.h"

#include <cmath>

#include "reference/number/recipe/evaluation_context.h"

namespace sextant {

double StochasticallyRounded(DType type, const DoubleDouble& x, double y) {
  const double off = (x.high - y) + x.low;  // x.high - y is exact: y is near
  const auto& seed = this_context.rounding_seed;
  if (!seed || !std::isfinite(off)) return y;
  const bool up = GoesUp(*seed, x);
  if (type == DType::kF32) return Neighbour(static_cast<float>(y), up, up != (off < 0));
  if (up == (off < 0)) return y;
  return up ? NextUp(type, y) : NextDown(type, y);
}

}  // namespace sextant
