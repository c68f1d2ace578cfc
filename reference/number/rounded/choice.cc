#include "reference/number/rounded/choice.h"

#include <algorithm>
#include <cmath>

#include "reference/number/rounded/rounded.h"

namespace sextant {
namespace {

double NearestAway(DType type, double x) {
  const double even = RoundTo(type, x), other = x + (x - even);  // no value, unless x is a tie
  return std::abs(other) > std::abs(even) && IsRepresentable(type, other) ? other : even;
}

// `side` is the sign of the exact number minus x.
double Power(Choice choice, DType type, double x, int side) {
  if (std::isnan(x)) return x;
  if (x <= 0 && Lowest(type) <= 0) return 0;
  const double least = MinSubnormal(type), most = PowerOfTwo(GridOf(type).max_exponent);
  if (x <= least || x > most) return x <= least ? least : most;
  const double below = PowerOfTwo(std::ilogb(x));  // at most x
  if (choice == Choice::kPowerBelow) return x == below && side < 0 ? below / 2 : below;
  return x == below && side <= 0 ? below : std::min(2 * below, most);
}

}  // namespace

double Chosen(Choice choice, DType type, double high, double low) {
  if (IsPower(choice)) return Power(choice, type, high, (low > 0) - (low < 0));
  if (choice == Choice::kNearestAway && low == 0) return NearestAway(type, high);
  return RoundTo(type, DoubleDouble{high, low});
}

}  // namespace sextant
