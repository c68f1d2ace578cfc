// The functions in which formulas are written, for every number type Real
// (Interval, Counted, Rounded, BoostReal). Besides + - * / there are
//   Sqrt Exp Log CosSin Tanh Erf Erfc Sigmoid   in the header of each type
//   Floor(x)                            a double; decided, not rounded
//   Max(a, b), Clamp(x, low, high), LogRatio(a, b)
//                                       reference/number/clamp.h; there is no comparison
//   Converted(x)                        x in the format of the step
//   SumOf(terms)                        in any order, or in the form of the recipe
//   TwoPi<Real>()
//   InversePower<Real>(base, k, n)      base^-(k/n): steps exponent and frequency; base is a double
//                                       or a GrownBase
//   AngleTable<Real>(frequency)(p)      cos and sin of p * frequency, for an integer position p:
//                                       steps angle and trig
//   CosSinAt(coordinate, frequency)     the same for coordinates that are not integers
//   TableEntry(cos_sin, amplitude)      cos and sin times an amplitude: steps trig and table
//   TableFactor<Real>(n, d)(x)          x n / d: steps factor, table and weigh
//   RowScale<Real>(v)(x, w)             x / sqrt(v) * w: steps rsqrt, scale and weigh
//   Dot(a, b)                           the sum of a_i b_i: step dot; reference/number/dot/dot.h
//   ScoreScale<Real>(scale, n)(x)       x scale, or x / sqrt(n) if scale is unset: step scale
//   SoftmaxRow<Real>(scores)            reference/attention/softmax_row.h
// A formula is the same for all number types. This file decides what is exact, shared, or rounded
// step by step for each type.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reference/number/counted/counted.h"
#include "reference/number/dot/dot.h"
#include "reference/number/exact/boost_real.h"
#include "reference/number/exact/interval.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/recipe.h"
#include "reference/number/rounded/rounded.h"

namespace sextant {

inline const Interval& Converted(const Interval& x) { return x; }
inline const BoostReal& Converted(const BoostReal& x) { return x; }

// Converts each number to the format of the step. ConvertAll(std::span<Counted>) is in counted.h.
inline void ConvertAll(std::span<Interval>) {}
inline void ConvertAll(std::span<BoostReal>) {}
inline void ConvertAll(std::span<Rounded> numbers) {
  for (Rounded& x : numbers) x = Converted(x);
}

template <class Real>
concept RealArithmetic = std::same_as<Real, Interval> || std::same_as<Real, BoostReal>;

template <RealArithmetic Real>
Real SumOf(std::span<const Real> terms) {
  Real sum(0.0);
  for (const Real& term : terms) sum = sum + term;
  return sum;
}
template <class Real>
Real SumOf(const std::vector<Real>& terms) {
  return SumOf(std::span<const Real>(terms));
}

// A number without a value, from which no number with a value follows. Only the types that enclose
// know it; for the others it is 0.
template <class Real>
Real Unspecified() {
  return std::same_as<Real, Counted> ? Real(kNaN) : Real();
}

template <class Real>
Real TwoPi() {
  return TwoPiOf(static_cast<const Real*>(nullptr));
}

// base^-(k/n), base > 0, 0 <= k, n > 0. The form of step `frequency` selects the method (recipe.h).
template <class Real>
Real InversePower(double base, int64_t k, int64_t n);

// base growth^(R/(R-2)), R > 2; just base if growth is unset.
template <class Real>
struct GrownBase {
  double base;
  std::optional<Real> growth;
  int64_t R;
};
template <class Real>
Real InversePower(const GrownBase<Real>& base, int64_t k, int64_t n);

// The rotation of one pair. Source: Su et al. 2021, arXiv:2104.09864, eq. 34.
template <class Real>
class AngleTable {
 public:
  explicit AngleTable(const Real& frequency) : frequency_(frequency) {}

  // cos and sin of position * frequency; position is an integer.
  std::pair<Real, Real> operator()(double position) {
    Real angle;
    {
      const ScopedStep at(Step::kAngle);
      angle = Real(position, DType::kI64) * frequency_;
    }
    const ScopedStep at(Step::kTrig);
    return CosSin(angle);
  }

 private:
  Real frequency_;
};

// position = 64 a + b: cos and sin of both parts are cached, because many positions share them.
//   cos(x + y) = cos x cos y - sin x sin y,  sin(x + y) = sin x cos y + cos x sin y
template <>
class AngleTable<Interval> {
 public:
  explicit AngleTable(const Interval& frequency) : frequency_(frequency) {}
  std::pair<Interval, Interval> operator()(double position);

 private:
  static constexpr int64_t kFine = 64;
  using CosineSine = std::pair<Interval, Interval>;
  CosineSine CosSinAtInteger(int64_t position) const;

  Interval frequency_;
  std::array<std::optional<CosineSine>, kFine> fine_;  // of 0 .. 63
  std::unordered_map<int64_t, CosineSine> coarse_;     // of multiples of 64
};

// The same addition theorem for the centres: an angle's cos and sin are four products instead of
// two series. Errors depend on the whole angle, as in the general table.
template <>
class AngleTable<Counted> {
 public:
  explicit AngleTable(const Counted& frequency) : frequency_(frequency) {}
  std::pair<Counted, Counted> operator()(double position);

 private:
  static constexpr int64_t kFine = 64;
  SineCosine CenterOf(const DoubleDouble& angle, double position);
  SineCosine AtInteger(int64_t position) const;

  Counted frequency_;
  std::array<std::optional<SineCosine>, kFine> fine_;
  std::unordered_map<int64_t, SineCosine> coarse_;
};

// cos and sin of a coordinate, any double, times a frequency: steps angle and trig.
template <class Real>
std::pair<Real, Real> CosSinAt(double coordinate, const Real& frequency) {
  Real angle;
  {
    const ScopedStep at(Step::kAngle);
    angle = Real(coordinate, DType::kF64) * frequency;
  }
  const ScopedStep at(Step::kTrig);
  return CosSin(angle);
}

// Cos and sin times an amplitude, as stored in a table: steps trig and table.
template <class Real>
std::pair<Real, Real> TableEntry(std::pair<Real, Real> cos_sin, const Real& amplitude) {
  {
    const ScopedStep at(Step::kTrig);
    cos_sin = {cos_sin.first * amplitude, cos_sin.second * amplitude};
  }
  const ScopedStep at(Step::kTable);
  return {Converted(cos_sin.first), Converted(cos_sin.second)};
}

// base^exponent, base > 0; exact if the base is exact and the exponent is a small integer. Power of
// the other types is in their headers.
Interval Power(const Interval& base, const Interval& exponent);

// x * numerator / denominator for many x: steps factor, table and weigh. Implementations multiply
// by a rounded quotient from a table. The exact types divide last, so that a result that is
// representable at their precision is exact.
template <class Real>
class TableFactor {
 public:
  TableFactor(const Real& numerator, const Real& denominator)
      : numerator_(numerator), denominator_(denominator) {
    if constexpr (!RealArithmetic<Real>) {
      {
        const ScopedStep at(Step::kFactor);
        numerator_ = numerator / denominator;
      }
      const ScopedStep at(Step::kTable);
      numerator_ = Converted(numerator_);
    }
  }
  Real operator()(const Real& x) const {
    const ScopedStep at(Step::kWeigh);
    return RealArithmetic<Real> ? x * numerator_ / denominator_ : x * numerator_;
  }

 private:
  Real numerator_, denominator_;
};

// x / sqrt(v) * w for many x and w. Implementations multiply by the rounded reciprocal of the
// rounded root. The exact types divide once, so that a result that is representable at their
// precision is exact (x = 1, v = 9, w = 3).
template <class Real>
class RowScale {
 public:
  explicit RowScale(const Real& v) {
    const ScopedStep at(Step::kRsqrt);
    factor_ = RealArithmetic<Real> ? Sqrt(v) : Real(1.0) / Sqrt(v);
  }
  Real operator()(const Real& x, const Real& w) const {
    if constexpr (RealArithmetic<Real>) {
      return x * w / factor_;
    } else {
      Real scaled;
      {
        const ScopedStep at(Step::kScale);
        scaled = x * factor_;
      }
      const ScopedStep at(Step::kWeigh);
      return scaled * w;
    }
  }

 private:
  Real factor_;
};

// Scales scores, by `scale` or by 1 / sqrt(n) if it is unset: step scale. Implementations divide by
// the rounded root or multiply by its rounded reciprocal; the bound covers both. The exact types
// divide.
template <class Real>
class ScoreScale {
 public:
  ScoreScale(std::optional<double> scale, size_t n);
  // `Number`: Real, or CountedLanes of Counted.
  template <class Number>
  Number operator()(const Number& x) const {
    const ScopedStep at(Step::kScale);
    if constexpr (RealArithmetic<Real>) {
      if (divides_) return x / factor_;
    }
    return x * Number(factor_);
  }

 private:
  bool divides_;
  Real factor_;
};

}  // namespace sextant
