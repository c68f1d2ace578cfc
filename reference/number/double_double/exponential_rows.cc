#include "reference/number/double_double/exponential_rows.h"

#include <algorithm>
#include <cmath>

#include "reference/number/double_double/elementary.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/number/double_double/exponential_rows.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr double kOneOverLn2 = 0x1.71547652b82fep+0;
// The first 33 bits of ln 2, and the double nearest to the rest: k times the first is exact.
constexpr double kLn2First = 0x1.62e42fefp-1, kLn2Rest = 0x1.473de6af278edp-34;
constexpr double kMost = 600;
// The doubles nearest to 1/15!, 1/14!, .. 1/2!.
constexpr double kInverseFactorials[] = {0x1.ae7f3e733b81fp-41, 0x1.93974a8c07c9dp-37,
                                         0x1.6124613a86d09p-33, 0x1.1eed8eff8d898p-29,
                                         0x1.ae64567f544e4p-26, 0x1.27e4fb7789f5cp-22,
                                         0x1.71de3a556c734p-19, 0x1.a01a01a01a01ap-16,
                                         0x1.a01a01a01a01ap-13, 0x1.6c16c16c16c17p-10,
                                         0x1.1111111111111p-7,  0x1.5555555555555p-5,
                                         0x1.5555555555555p-3,  0x1p-1};

// e^x - 1 for |x| <= 0.35: x + x^2 (1/2! + x/3! + ... + x^13/15!); the next term is below 2^-65 of
// the first. The bracket is between 0.44 and 0.57. Its first product with x is at most a third of
// it, and the error of everything below counts at most a ninth, so it errs by at most 2^-52; the
// second term is at most 0.2 of the first, so its relative error of 2^-51 counts a fifth, and the
// sum rounds once.
template <class D, class V>
HWY_INLINE V Expm1NearZero(D d, V x) {
  V sum = hn::Set(d, kInverseFactorials[0]);
  for (size_t i = 1; i < std::size(kInverseFactorials); ++i)
    sum = hn::MulAdd(sum, x, hn::Set(d, kInverseFactorials[i]));
  return hn::MulAdd(hn::Mul(x, x), sum, x);
}

// x = k ln 2 + r with |r| <= 0.3466; the errors are those of ExpOf (elementary.cc).
template <class D, class V>
HWY_INLINE V Exponential(D d, V x) {
  const hn::RebindToUnsigned<D> bits;
  // The sum's last bits are k, which is then its rounding to an integer.
  const V magic = hn::Set(d, 0x1.8p52), shifted = hn::MulAdd(x, hn::Set(d, kOneOverLn2), magic);
  const V k = hn::Sub(shifted, magic);
  const V first = hn::Sub(x, hn::Mul(k, hn::Set(d, kLn2First)));
  const V r = hn::Sub(first, hn::Mul(k, hn::Set(d, kLn2Rest)));
  const auto power =
      hn::Add(hn::ShiftLeft<52>(hn::BitCast(bits, shifted)), hn::BitCast(bits, hn::Set(d, 1.0)));
  const V near = hn::Add(hn::Set(d, 1.0), Expm1NearZero(d, r));
  return hn::Mul(near, hn::BitCast(d, power));
}

// Sets y to of(d, x) by vectors; the last is padded with 0. Numbers beyond kMost are clamped.
template <class Function>
void ForEachVector(std::span<const double> x, double* y, Function of) {
  using D = hn::CappedTag<double, 8>;
  const D d;
  const size_t lanes = hn::Lanes(d);
  const auto apply = [&](const double* from, double* to) {
    const auto v = hn::LoadU(d, from);
    hn::StoreU(of(d, hn::Min(hn::Set(d, kMost), hn::Max(hn::Set(d, -kMost), v))), d, to);
  };
  size_t i = 0;
  for (; i + lanes <= x.size(); i += lanes) apply(x.data() + i, y + i);
  if (i == x.size()) return;
  double last[8] = {}, result[8];
  std::copy(x.begin() + static_cast<std::ptrdiff_t>(i), x.end(), last);
  apply(last, result);
  std::copy_n(result, x.size() - i, y + i);
}

}  // namespace

void ExpOfEach(std::span<const double> x, double* y) {
  ForEachVector(x, y, [](auto d, auto v) { return Exponential(d, v); });
}

// For |x| > 0.35, see Expm1Of (elementary.cc).
void Expm1OfEach(std::span<const double> x, double* y) {
  ForEachVector(x, y, [](auto d, auto v) {
    const auto is_near = hn::Le(hn::Abs(v), hn::Set(d, 0.35));
    const auto near = Expm1NearZero(d, v);
    if (hn::AllTrue(d, is_near)) return near;
    return hn::IfThenElse(is_near, near, hn::Sub(Exponential(d, v), hn::Set(d, 1.0)));
  });
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(ExpOfEach);
HWY_EXPORT(Expm1OfEach);

// Numbers out of the range of the vectors, and NaN, one by one.
void SetBeyond(std::span<const double> x, std::span<double> y, double (*function)(double)) {
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(std::abs(x[i]) <= 600)) y[i] = function(x[i]);
  }
}

}  // namespace

void ExpOfEach(std::span<const double> x, std::span<double> y) {
  HWY_DYNAMIC_DISPATCH(ExpOfEach)(x, y.data());
  SetBeyond(x, y, ExpOf);
}

void Expm1OfEach(std::span<const double> x, std::span<double> y) {
  HWY_DYNAMIC_DISPATCH(Expm1OfEach)(x, y.data());
  SetBeyond(x, y, Expm1Of);
}

}  // namespace sextant
#endif
