#include "reference/number/real.h"

#include <cmath>
#include <numeric>

namespace sextant {
namespace {

// The ways in which implementations compute base^-(k/n) in rounded arithmetic.
template <class Real>
Real ByPow(const Real& base, int64_t k, int64_t n) {
  Real exponent;
  {
    const ScopedStep at(Step::kExponent);
    exponent = Real(static_cast<double>(k)) / Real(static_cast<double>(n));
  }
  const ScopedStep at(Step::kFrequency);
  return Real(1.0) / Power(base, exponent);
}

template <class Real>
Real ByExpLog(const Real& base, int64_t k, int64_t n) {
  Real exponent;
  {
    const ScopedStep at(Step::kFrequency);
    exponent = Real(static_cast<double>(k)) * (Log(base) / Real(static_cast<double>(n)));
  }
  const ScopedStep at(Step::kFrequency);
  return Exp(-exponent);
}

// base^(2/n), rounded once, then its power -k/2. The k of frequencies are even.
template <class Real>
Real ByPowerChain(const Real& base, int64_t k, int64_t n) {
  Real exponent;
  {
    const ScopedStep at(Step::kExponent);
    exponent = Real(2.0) / Real(static_cast<double>(n));
  }
  const ScopedStep at(Step::kFrequency);
  return Power(Power(base, exponent), Real(-static_cast<double>(k) / 2));
}

template <class Real>
Real ByIteration(const Real& base, int64_t k, int64_t n) {
  Real exponent;
  {
    const ScopedStep at(Step::kExponent);
    exponent = Real(-2.0) / Real(static_cast<double>(n));
  }
  const ScopedStep at(Step::kFrequency);
  const Real ratio = Power(base, exponent);
  Real frequency(1.0);
  for (int64_t i = 0; i < k; i += 2) frequency = frequency * ratio;
  return frequency;
}

Form FormOfFrequency() {
  const ScopedStep at(Step::kFrequency);
  return CurrentRule().form;
}

template <class Real>
Real ByForm(const Real& base, int64_t k, int64_t n) {
  switch (FormOfFrequency()) {
    case Form::kExpLog:
      return ByExpLog<Real>(base, k, n);
    case Form::kPowerChain:
      return ByPowerChain<Real>(base, k, n);
    case Form::kIterated:
      return ByIteration<Real>(base, k, n);
    default:
      return ByPow<Real>(base, k, n);
  }
}

}  // namespace

template <>
Interval InversePower(double base, int64_t k, int64_t n) {
  return EnclosePower(base, -k, n);
}
template <>
BoostReal InversePower(double base, int64_t k, int64_t n) {
  return Power(BoostReal(base),
               -(BoostReal(static_cast<double>(k)) / BoostReal(static_cast<double>(n))));
}
template <>
Counted InversePower(double base, int64_t k, int64_t n) {
  return ByForm(Counted(base), k, n);
}
template <>
Rounded InversePower(double base, int64_t k, int64_t n) {
  return ByForm(Rounded(base), k, n);
}

namespace {

// Like implementations: the grown base first.
template <class Real>
Real ByGrownBase(const GrownBase<Real>& b, int64_t k, int64_t n) {
  if (!b.growth) return InversePower<Real>(b.base, k, n);
  Real exponent;
  {
    const ScopedStep at(Step::kExponent);
    exponent = Real(static_cast<double>(b.R)) / Real(static_cast<double>(b.R - 2));
  }
  Real grown;
  {
    const ScopedStep at(Step::kFrequency);
    grown = Real(b.base) * Power(*b.growth, exponent);
  }
  return ByForm(grown, k, n);
}

// base^-(k/n) growth^-(k/n R/(R-2)), computed separately: one of the two powers may be rational
// even if the grown base is not.
template <class Real, class PowerOf>
Real BySeparatePowers(const GrownBase<Real>& b, int64_t k, int64_t n, PowerOf power) {
  const Real power_of_base = InversePower<Real>(b.base, k, n);
  if (!b.growth) return power_of_base;
  const int64_t common = std::gcd(b.R, n);
  return power_of_base * power(*b.growth, -k * (b.R / common), n / common * (b.R - 2));
}

}  // namespace

template <>
Interval InversePower(const GrownBase<Interval>& base, int64_t k, int64_t n) {
  return BySeparatePowers(base, k, n, [](const Interval& growth, int64_t p, int64_t q) {
    return EnclosePower(growth, p, q);
  });
}
template <>
BoostReal InversePower(const GrownBase<BoostReal>& base, int64_t k, int64_t n) {
  return BySeparatePowers(base, k, n, [](const BoostReal& growth, int64_t p, int64_t q) {
    return Power(growth, BoostReal(static_cast<double>(p)) / BoostReal(static_cast<double>(q)));
  });
}
template <>
Counted InversePower(const GrownBase<Counted>& base, int64_t k, int64_t n) {
  return ByGrownBase(base, k, n);
}
template <>
Rounded InversePower(const GrownBase<Rounded>& base, int64_t k, int64_t n) {
  return ByGrownBase(base, k, n);
}

Interval Power(const Interval& base, const Interval& exponent) {
  constexpr double kSmall = 64;
  const double n = Middle(exponent);
  if (!(exponent.IsPoint() && n == std::floor(n) && std::abs(n) <= kSmall)) {
    return Exp(exponent * Log(base));
  }
  Interval y(1.0);
  for (int i = 0; i < std::abs(n); ++i) y = y * base;
  return n < 0 ? Interval(1.0) / y : y;
}

AngleTable<Interval>::CosineSine AngleTable<Interval>::CosSinAtInteger(int64_t position) const {
  return CosSin(Interval(static_cast<double>(position)) * frequency_);
}

std::pair<Interval, Interval> AngleTable<Interval>::operator()(double position) {
  const auto p = static_cast<int64_t>(position);
  const int64_t rest = p & (kFine - 1);
  auto at = coarse_.find(p - rest);
  if (at == coarse_.end()) at = coarse_.emplace(p - rest, CosSinAtInteger(p - rest)).first;
  const CosineSine& a = at->second;
  if (rest == 0) return a;
  std::optional<CosineSine>& fine = fine_[static_cast<size_t>(rest)];
  if (!fine) fine = CosSinAtInteger(rest);
  const CosineSine& b = *fine;
  return {a.first * b.first - a.second * b.second, a.second * b.first + a.first * b.second};
}

std::pair<Counted, Counted> AngleTable<Counted>::operator()(double position) {
  Counted angle;
  {
    const ScopedStep at(Step::kAngle);
    angle = Counted(position, DType::kI64) * frequency_;
  }
  const ScopedStep at(Step::kTrig);
  return CosSinAround(angle, CenterOf(angle.center(), position));
}

SineCosine AngleTable<Counted>::AtInteger(int64_t position) const {
  return SinCos(DoubleDouble(static_cast<double>(position)) * frequency_.center());
}

// Error in units of 2^-106, absolute: 13 units of each factor, times |cos| + |sin| <= sqrt 2 of the
// other angle, 5 units of each product and 3 of the sum: at most 45, and 2^-100 is 64. The parts of
// the position have its sign, so the angles of both add up to the whole angle. They are rounded by
// 5 units each; the drift of the whole angle has 8, or is 0 if all these products are exact.
SineCosine AngleTable<Counted>::CenterOf(const DoubleDouble& angle, double position) {
  if (!(std::abs(position) <= 0x1p53) || std::abs(angle.high) <= kSmallAngle) return SinCos(angle);
  const auto p = static_cast<int64_t>(position);
  if (std::abs(p) < kFine) return SinCos(angle);
  const int64_t rest = p % kFine;
  auto at = coarse_.find(p - rest);
  if (at == coarse_.end()) at = coarse_.emplace(p - rest, AtInteger(p - rest)).first;
  const SineCosine& a = at->second;
  if (rest == 0) return a;
  std::optional<SineCosine>& fine = fine_[static_cast<size_t>(std::abs(rest))];
  if (!fine) fine = AtInteger(std::abs(rest));
  const SineCosine b{rest < 0 ? -fine->sine : fine->sine, fine->cosine};
  return {a.sine * b.cosine + a.cosine * b.sine, a.cosine * b.cosine - a.sine * b.sine};
}

template <class Real>
ScoreScale<Real>::ScoreScale(std::optional<double> scale, size_t n)
    : divides_(!scale && RealArithmetic<Real>) {
  const ScopedStep at(Step::kScale);
  if (scale) {
    factor_ = Real(*scale);
  } else {
    const Real root = Sqrt(Real(static_cast<double>(n)));
    factor_ = divides_ ? root : Real(1.0) / root;
  }
}

template class ScoreScale<Interval>;
template class ScoreScale<Counted>;
template class ScoreScale<Rounded>;
template class ScoreScale<BoostReal>;

}  // namespace sextant
