// Numbers that an implementation may compute in one of several ways.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "reference/number/counted/counted.h"

namespace sextant {

// All are evaluations of one exact number. The first one; for Counted with the error of any.
template <class Real>
Real AnyOf(const Real& first, std::initializer_list<Real>) {
  return first;
}
template <>
inline Counted AnyOf(const Counted& first, std::initializer_list<Counted> others) {
  Counted::Bounds bounds{first.error(), first.likely()};
  for (const Counted& other : others) {
    bounds.worst = std::max(bounds.worst, other.error() + other.drift() + first.drift());
    bounds.likely = std::max(bounds.likely, other.likely() + other.drift() + first.drift());
  }
  return first.WithError(bounds);
}

}  // namespace sextant
