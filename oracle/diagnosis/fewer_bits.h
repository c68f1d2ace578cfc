// Numbers rounded to formats of few bits that tensors do not have.
#pragma once

#include <algorithm>
#include <cmath>

namespace sextant::oracle {

// A binary format without an upper limit.
struct FewBits {
  int significant;
  int least_exponent = -1000;  // of normal numbers

  // The distance of neighbours at x.
  double UnitAt(double x) const {
    const int exponent = x == 0 ? least_exponent : std::max(std::ilogb(x), least_exponent);
    return std::ldexp(1, exponent - significant + 1);
  }
  double Nearest(double x) const { return std::nearbyint(x / UnitAt(x)) * UnitAt(x); }
  double TowardZero(double x) const { return std::trunc(x / UnitAt(x)) * UnitAt(x); }
};

// OCP 8-bit Floating Point Specification 1.0; TF32 of NVIDIA Ampere.
inline constexpr FewBits kE4M3{4, -6}, kE5M2{3, -14}, kTF32{11};

}  // namespace sextant::oracle
