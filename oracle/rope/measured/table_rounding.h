// Angles and tables that are rounded, or reduced by an inexact turn, in a format of their own.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "oracle/diagnosis/number_in.h"
#include "reference/number/real.h"
#include "reference/number/tensor/dtype.h"

namespace sextant::oracle {

struct TableRounding {
  // The formats of position, frequency and their product, and of cos and sin; none: the recipe's.
  std::optional<DType> position{}, frequency{}, angle{}, cosine{}, sine{};
  double turn = 0;          // that is subtracted from the angle as often as it has it; 0: none
  double grid = 0;          // the angle is a multiple of that; 0: of none
  bool to_nearest = false;  // of turns and of the grid; else downwards

  bool HasAngle() const { return position || frequency || angle || turn != 0 || grid != 0; }
  // Radians.
  double AngleOf(double p, double f) const {
    const auto in = [](double x, const std::optional<DType>& format) {
      return format ? RoundTo(*format, x) : x;
    };
    double product = in(in(p, position) * in(f, frequency), angle);
    const auto count = [&](double unit) {
      return to_nearest ? std::nearbyint(product / unit) : std::floor(product / unit);
    };
    if (turn != 0) product -= count(turn) * turn;
    return grid == 0 ? product : count(grid) * grid;
  }
  // cos and sin of that angle. Turns are subtracted in the step of the angle.
  template <class Real>
  std::pair<Real, Real> CosSinOf(double p, const Real& frequency) const {
    const double f = NumberIn(frequency);
    Real radians;
    {
      const ScopedStep at(Step::kAngle);
      const bool has_formats = position || this->frequency || angle || grid != 0;
      radians = !has_formats ? Real(p, DType::kI64) * frequency - Real(p * f - AngleOf(p, f))
                             : Real(AngleOf(p, f));
    }
    const ScopedStep at(Step::kTrig);
    return CosSin(radians);
  }
  template <class Real>
  void Round(Real& cos, Real& sin) const {
    if (cosine) cos = Real(RoundTo(*cosine, NumberIn(cos)));
    if (sine) sin = Real(RoundTo(*sine, NumberIn(sin)));
  }
};

struct NamedRounding {
  std::string name, sentence;
  TableRounding rounding;
};
// What implementations have: 16 bits, turns of few digits, tables of sines.
std::vector<NamedRounding> UsualTableRoundings();

}  // namespace sextant::oracle
