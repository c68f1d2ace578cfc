// Dot products, for every number type: step dot, the products and their sum.
//   Dot(a, b)                     of two rows
//   DotOperand<Real>(row)         a row prepared for many of them: Dot(operand, operand)
// A product of two matrices prepares each row once. What a number type needs for it:
//   Rounded, BoostReal    the row itself
//   Counted          the row converted to the format of the step, where that is the same each time
//   Interval         the row as integers in units of one power of two, with radii: their products
//                    are added up exactly, and become an enclosure once, at the end
#pragma once

#include <gmp.h>

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/number/counted.h"
#include "reference/number/evaluation_context.h"
#include "reference/number/interval.h"
#include "reference/number/recipe.h"

namespace sextant {

template <class Real>
class DotOperand {
 public:
  // The numbers must outlive the operand.
  explicit DotOperand(std::span<const Real> numbers) : numbers_(numbers) {}

 private:
  friend Real Dot(const DotOperand& a, const DotOperand& b) {
    const ScopedStep at(Step::kDot);
    std::vector<Real> products;
    products.reserve(a.numbers_.size());
    for (size_t i = 0; i < a.numbers_.size(); ++i)
      products.push_back(a.numbers_[i] * b.numbers_[i]);
    return SumOf(std::span<const Real>(products));
  }
  std::span<const Real> numbers_;
};

template <>
class DotOperand<Counted> {
 public:
  explicit DotOperand(std::span<const Counted> numbers);

 private:
  friend Counted Dot(const DotOperand& a, const DotOperand& b) { return a.Times(b); }
  Counted Times(const DotOperand& other) const;
  static Counted Product(const Counted& a, const Counted& b, const StepRule& rule);
  std::vector<Counted> numbers_;
  std::vector<bool> ordinary_;  // those whose products need no special case
};

template <>
class DotOperand<Interval> {
 public:
  explicit DotOperand(std::span<const Interval> numbers);

 private:
  friend Interval Dot(const DotOperand& a, const DotOperand& b);
  void Scale();
  void Hold(size_t i);
  // |number i - integer i| in units of 2^unit_, and what the integer reaches, of 2^top_.
  std::span<const Interval> numbers_;
  bool specified_ = true;
  bool plain_ = false;            // too precise for doubles to hold the radii
  bool exact_ = true;             // all radii are 0
  size_t width_ = 0;              // limbs of an integer
  int64_t unit_ = 0, top_ = 0;    // number i = +-integer i 2^unit_, below 2^top_ in magnitude
  std::vector<mp_limb_t> limbs_;  // width_ of each, the lowest first
  std::vector<bool> negative_;
  std::vector<double> size_, radius_;  // bounds of |number i|, |number i - integer i| over 2^top_
};
Interval Dot(const DotOperand<Interval>& a, const DotOperand<Interval>& b);

// Of enclosures, which are only prepared for many: sum a_i b_i.
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
