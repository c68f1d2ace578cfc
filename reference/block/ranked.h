// Numbers in order, for every number type.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "reference/number/real.h"

namespace sextant {

inline bool IsBelow(const Interval& a, const Interval& b) { return Less(a, b); }
inline bool IsBelow(const BoostReal& a, const BoostReal& b) { return Less(a, b); }
inline bool IsBelow(const Rounded& a, const Rounded& b) { return Less(a, b); }
// Of the exact numbers. If the drifts do not decide it, marks the evaluation as uncertain.
inline bool IsBelow(const Counted& a, const Counted& b) {
  const double difference = (a.center().high - b.center().high) + (a.center().low - b.center().low);
  const double drift = a.drift() + b.drift();
  if (drift > 0 && !(std::abs(difference) > drift * (1 + 0x1p-50) + std::abs(difference) * 0x1p-50))
    this_context.uncertain = true;
  return difference < 0;
}

// start + (a - b), where a - b is a comparison of what was computed, which rounds nothing.
template <class Real>
Real PlusDifference(double start, const Real& a, const Real& b) {
  return Real(start) + (a - b);
}
template <>
inline Counted PlusDifference(double start, const Counted& a, const Counted& b) {
  const DoubleDouble center = DoubleDouble{start, 0} + (a.center() - b.center());
  constexpr double kUnits = 16;  // of three operations
  const double drift =
      a.drift() + b.drift() + DriftOf({a.Magnitude() + b.Magnitude() + std::abs(start), 0}, kUnits);
  return Counted::Of(center, drift, std::nullopt, a.saturated() || b.saturated())
      .WithError({a.error() + b.error(), a.likely() + b.likely()});
}

// Numbers of which some are known to be equal: those that are computed from the same inputs, which
// are their key. Of others an order is always decided.
template <class Real>
class Ranked {
 public:
  using Key = std::vector<double>;
  void Add(Real number, Key key) {
    numbers_.push_back(std::move(number));
    keys_.push_back(std::move(key));
  }
  size_t size() const { return numbers_.size(); }
  const Real& operator[](size_t i) const { return numbers_[i]; }
  const Key& KeyOf(size_t i) const { return keys_[i]; }
  bool AreEqual(size_t a, size_t b) const { return keys_[a] == keys_[b]; }
  bool IsAbove(size_t a, size_t b) const {
    return !AreEqual(a, b) && IsBelow(numbers_[b], numbers_[a]);
  }
  // The `count` largest, the largest first, of equal ones that with the lower index.
  std::vector<size_t> Largest(std::vector<size_t> among, size_t count) const {
    count = std::min(count, among.size());
    std::ranges::partial_sort(among, among.begin() + static_cast<ptrdiff_t>(count),
                              [this](size_t a, size_t b) {
                                return AreEqual(a, b) ? a < b : IsBelow(numbers_[b], numbers_[a]);
                              });
    among.resize(count);
    return among;
  }
  std::vector<size_t> Largest(size_t count) const {
    std::vector<size_t> all(size());
    std::iota(all.begin(), all.end(), size_t{0});
    return Largest(std::move(all), count);
  }

 private:
  std::vector<Real> numbers_;
  std::vector<Key> keys_;
};

}  // namespace sextant
