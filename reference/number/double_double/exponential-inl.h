// Exponentials of vectors of doubles (exponential_rows.h). Included once for each instruction set,
// after hwy/highway.h.
#if defined(SEXTANT_REFERENCE_EXPONENTIAL) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_REFERENCE_EXPONENTIAL
#undef SEXTANT_REFERENCE_EXPONENTIAL
#else
#define SEXTANT_REFERENCE_EXPONENTIAL
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <iterator>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr double kOneOverLn2 = 0x1.71547652b82fep+0;
// The first 33 bits of ln 2, and the double nearest to the rest: k times the first is exact.
constexpr double kLn2First = 0x1.62e42fefp-1, kLn2Rest = 0x1.473de6af278edp-34;
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

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
