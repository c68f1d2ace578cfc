// The condition by which an element conforms.
#pragma once

namespace sextant::oracle {

// |got - (high + low)| <= permitted + radius, decided exactly: no rounding of the difference or of
// the sum makes a number conform that lies outside, or fail that lies inside. All are finite, or
// the comparison is that of IEEE 754 (an infinite `got` fails, a NaN anywhere fails).
// Preconditions: |low| <= 2^-53 |high|; permitted, radius >= 0.
bool IsWithin(double got, double high, double low, double permitted, double radius);

}  // namespace sextant::oracle
