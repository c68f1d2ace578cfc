// Elementwise formulas over many numbers, by CountedLanes where the numbers are Counted.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "reference/number/lanes/counted_lanes.h"

namespace sextant {

// The type of a single number: of the constants of a formula over Real.
template <class Real>
using Single = std::conditional_t<std::same_as<Real, CountedLanes>, Counted, Real>;

// y[i] = f(x[i] ...) for each i, where make(std::type_identity<Number>()) is the f for one type of
// numbers. All vectors have the same length; y may be one of the operands.
template <class Real, class Make, class... Operands>
void SetEach(std::vector<Real>& y, const Make& make, const Operands&... x) {
  if constexpr (std::same_as<Real, Counted>) {
    const auto f = make(std::type_identity<CountedLanes>());
    for (size_t first = 0; first < y.size(); first += kLaneCount) {
      const size_t count = std::min(kLaneCount, y.size() - first);
      f(CountedLanes(std::span(x).subspan(first, count))...)
          .CopyTo(std::span(y).subspan(first, count));
    }
  } else {
    const auto f = make(std::type_identity<Real>());
    for (size_t i = 0; i < y.size(); ++i) y[i] = f(x[i]...);
  }
}

inline CountedLanes LanesOf(std::span<const Counted> numbers, size_t first, size_t count) {
  return CountedLanes(numbers.subspan(first, count));
}
inline CountedLanes LanesOf(const auto& row, size_t first, size_t count) {
  return CountedLanes(row.Part(first, count));
}
// The same in arrays, for operands that are a CountedSpan, an ExactSpan or std::span<const
// Counted>. False if not all results have the format of y.
template <class Make, class... Operands>
bool SetEach(const CountedSpan& y, const Make& make, const Operands&... x) {
  const auto f = make(std::type_identity<CountedLanes>());
  for (size_t first = 0; first < y.count; first += kLaneCount) {
    const size_t count = std::min(kLaneCount, y.count - first);
    if (!f(LanesOf(x, first, count)...).CopyTo(y.Part(first, count))) return false;
  }
  return true;
}

}  // namespace sextant
