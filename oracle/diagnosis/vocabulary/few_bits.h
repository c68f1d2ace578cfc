// Numbers rounded to formats of few bits that tensors do not have.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace sextant::oracle {

struct FewBits {
  int significant;
  int least_exponent = -1000;  // of normal numbers
  double largest = std::numeric_limits<double>::infinity();
  const char* name = "";

  // The distance of neighbours at x.
  double UnitAt(double x) const {
    const int exponent = x == 0 ? least_exponent : std::max(std::ilogb(x), least_exponent);
    return std::ldexp(1, exponent - significant + 1);
  }
  double Nearest(double x) const {
    return std::clamp(std::nearbyint(x / UnitAt(x)) * UnitAt(x), -largest, largest);
  }
  double TowardZero(double x) const { return std::trunc(x / UnitAt(x)) * UnitAt(x); }

  // "7 significant bits", "FP8 E4M3 (4 significant bits)", "multiples of 1/128"
  std::string Text() const {
    if (least_exponent == 0) return "multiples of 1/" + std::to_string(1 << (significant - 1));
    const std::string bits = std::to_string(significant) + " significant bits";
    return *name ? name + (" (" + bits + ")") : bits;
  }
};

// OCP 8-bit Floating Point Specification 1.0; TF32 of NVIDIA Ampere.
inline constexpr FewBits kE4M3{4, -6, 448, "FP8 E4M3"}, kE5M2{3, -14, 57344, "FP8 E5M2"}, kTF32{11};

}  // namespace sextant::oracle
