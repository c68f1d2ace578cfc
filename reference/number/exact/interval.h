// Interval: an enclosure of one real number, for proofs.
//
// Two MPFR endpoints with directed rounding: if the operands enclose exact numbers, the result
// encloses the exact result. The precision (bits of an endpoint) belongs to the thread; callers
// raise it until a rounding is decided. An operation that depends on a comparison or a sign (of a
// divisor, for example) throws Undecided if the enclosure does not decide it; a higher precision
// may. NaN means "not specified": infinite or NaN operands, 0/0.
#pragma once

#include <gmp.h>
#include <mpfr.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "reference/number/exact/decision.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/tensor/dtype.h"

namespace sextant {

// Thrown if this thread's precision does not suffice for a decision.
struct Undecided {};

// Sets the precision of new endpoints, in bits. It also selects the widest exponent range of MPFR:
// xPos exceeds 2^(2^30), the default limit.
class ScopedPrecision {
 public:
  explicit ScopedPrecision(int bits);

 private:
  Scoped<&EvaluationContext::precision> precision_;
};

// An mpfr_t that stores up to 256 bits inside the object: no allocation in the common case.
class Endpoint {
 public:
  Endpoint();  // NaN, of the thread's precision
  Endpoint(const Endpoint& other) {
    if (other.IsInline()) {
      CopyInline(other);
    } else {
      CopyLong(other);
    }
  }
  Endpoint& operator=(const Endpoint& other) {
    if (this == &other) return *this;
    if (!IsInline()) mpfr_clear(&number_);
    return *new (this) Endpoint(other);
  }
  ~Endpoint() {
    if (!IsInline()) mpfr_clear(&number_);
  }
  mpfr_ptr get() { return &number_; }
  mpfr_srcptr get() const { return &number_; }

 private:
  static constexpr int kInlineBits = 256;
  bool IsInline() const { return mpfr_get_prec(&number_) <= kInlineBits; }
  // An inline number has a pointer to the limbs in its own object.
  void CopyInline(const Endpoint& other) {
    number_ = other.number_;
    std::memcpy(limbs_, other.limbs_, sizeof limbs_);
    mpfr_custom_move(&number_, limbs_);
  }
  void CopyLong(const Endpoint& other);

  __mpfr_struct number_;
  mp_limb_t limbs_[kInlineBits / GMP_NUMB_BITS] = {};
};

inline bool IsNegative(const Endpoint& x) { return mpfr_sgn(x.get()) < 0; }
inline bool IsPositive(const Endpoint& x) { return mpfr_sgn(x.get()) > 0; }

template <class Real>
class DotOperand;  // reference/number/dot/dot.h

class Interval {
 public:
  Interval() = default;         // not specified
  explicit Interval(double x);  // exactly x
  Interval(double x, DType) : Interval(x) {}

  const Endpoint& lower() const { return lower_; }
  const Endpoint& upper() const { return upper_; }
  bool IsSpecified() const;  // both endpoints are finite numbers
  bool IsPoint() const;      // lower = upper
  bool IsOne() const;        // exactly 1

  friend Interval operator+(const Interval& a, const Interval& b);
  friend Interval operator-(const Interval& a, const Interval& b);
  friend Interval operator-(const Interval& a);
  friend Interval operator*(const Interval& a, const Interval& b);
  // Throws Undecided if b encloses 0 but is not the point 0. The point 0 gives "not specified".
  friend Interval operator/(const Interval& a, const Interval& b);
  // Throws Undecided if a encloses both negative and non-negative numbers.
  friend Interval Sqrt(const Interval& a);
  friend Interval Exp(const Interval& a);
  friend Interval Exp2(const Interval& a);  // 2^a; a point if a is an integer
  friend Interval Log(const Interval& a);   // a > 0; throws Undecided if a > 0 is not decided
  friend Interval Tanh(const Interval& a);
  friend Interval Erf(const Interval& a);
  friend Interval Erfc(const Interval& a);
  friend Interval Sigmoid(const Interval& a);  // 1 / (1 + e^-a)
  friend std::pair<Interval, Interval> CosSin(const Interval& a);
  friend bool Less(const Interval& a, const Interval& b);  // throws Undecided if a and b overlap
  friend Interval Max(const Interval& a, const Interval& b);

  // base^(p/q), base > 0, q > 0; a point if the result is representable at the working precision.
  friend Interval EnclosePower(double base, int64_t p, int64_t q);
  friend Interval EnclosePower(const Interval& base, int64_t p, int64_t q);
  friend double Floor(const Interval& a);  // throws Undecided if the floor is not unique
  // ln a / ln b for a, b > 0; a point if a and b are powers of two and the result is representable.
  friend Interval LogRatio(const Interval& a, const Interval& b);
  friend Interval TwoPiOf(const Interval*);
  friend Interval Dot(const DotOperand<Interval>& a, const DotOperand<Interval>& b);

 private:
  Endpoint lower_, upper_;
};

Interval EnclosePower(double base, int64_t p, int64_t q);
Interval EnclosePower(const Interval& base, int64_t p, int64_t q);
Interval TwoPiOf(const Interval*);

// Empty if the enclosure admits two different answers.
std::optional<Decision> Decide(const Interval& x, DType type);

// Largest distance of a number in the enclosure from high + low, rounded up.
double RadiusAround(const Interval& x, double high, double low);
double Middle(const Interval& x);  // a double in the enclosure or next to it

}  // namespace sextant
