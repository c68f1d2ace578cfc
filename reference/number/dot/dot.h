// Dot products for every number type, in step dot: the products and their sum.
//   Dot(a, b)                     the dot product of two rows
//   DotOperand<Real>(row)         a row prepared for many dot products: Dot(operand, operand)
// A product of two matrices prepares each row once. The prepared row is, for
//   Rounded, BoostReal    the row itself
//   Counted          the row converted to the format of the step, if the conversion is the same for
//                    every dot product
//   Interval         the row as integers in units of one power of two, with radii: the products of
//                    the integers are added exactly, and the sum becomes an enclosure once, at the
//                    end
#pragma once

#include <gmp.h>

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/number/counted/counted.h"
#include "reference/number/dot/plain_dot.h"
#include "reference/number/exact/interval.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/recipe.h"
#include "reference/number/rounded/rounded.h"

namespace sextant {

template <class Real>
class DotOperand {
 public:
  // The numbers must outlive the operand.
  explicit DotOperand(std::span<const Real> numbers) : numbers_(numbers) {}

 private:
  friend Real Dot(const DotOperand& a, const DotOperand& b) {
    const ScopedStep at(Step::kDot);
    if constexpr (std::same_as<Real, Rounded>) return SumOfProducts(a.numbers_, b.numbers_);
    std::vector<Real> products;
    products.reserve(a.numbers_.size());
    for (size_t i = 0; i < a.numbers_.size(); ++i)
      products.push_back(a.numbers_[i] * b.numbers_[i]);
    return SumOf(std::span<const Real>(products));
  }
  std::span<const Real> numbers_;
};

// The numbers converted to the format of step dot, if all are plain (plain_dot.h); else empty.
std::vector<double> PlainNumbers(std::span<const Counted> numbers);

template <>
class DotOperand<Counted> {
 public:
  explicit DotOperand(std::span<const Counted> numbers);
  // The numbers if they are plain (plain_dot.h); else empty.
  std::span<const double> plain() const { return plain_; }
  const PlainRange& range() const { return range_; }  // of plain()

 private:
  friend Counted Dot(const DotOperand& a, const DotOperand& b) { return a.Times(b); }
  Counted Times(const DotOperand& other) const;
  std::vector<Counted> numbers_;
  std::vector<bool> ordinary_;  // numbers for OrdinaryProduct
  std::vector<double> plain_;
  PlainRange range_;
};

template <>
class DotOperand<Interval> {
 public:
  explicit DotOperand(std::span<const Interval> numbers);

 private:
  friend Interval Dot(const DotOperand& a, const DotOperand& b);
  void Scale();
  void SetInteger(size_t i);
  // Number i is approximately +-integer i * 2^unit_; numbers are below 2^top_ in magnitude.
  std::span<const Interval> numbers_;
  bool specified_ = true;
  bool plain_ = false;  // only numbers_ is used: the precision is too high for radii in double
  bool exact_ = true;   // all radii are 0
  size_t width_ = 0;    // limbs of an integer
  int64_t unit_ = 0, top_ = 0;
  std::vector<mp_limb_t> limbs_;  // width_ limbs of each integer, the lowest first
  std::vector<bool> negative_;
  // Bounds of |number i|, and of its distance from +-integer i * 2^unit_, in units of 2^top_.
  std::vector<double> size_, radius_;
};
Interval Dot(const DotOperand<Interval>& a, const DotOperand<Interval>& b);

// sum a_i b_i by interval arithmetic; preparation pays off only for many dot products.
Interval SumOfProducts(std::span<const Interval> a, std::span<const Interval> b);

template <class Real>
Real Dot(std::span<const Real> a, std::span<const Real> b) {
  if constexpr (std::same_as<Real, Interval>) {
    return SumOfProducts(a, b);
  } else {
    return Dot(DotOperand<Real>(a), DotOperand<Real>(b));
  }
}

}  // namespace sextant
