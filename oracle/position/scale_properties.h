// Properties and bugs of the operations that scale queries q[B,H,S,D] by a factor of their
// position[S]: log_n_scale, temperature_scale.
#pragma once

#include <functional>
#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/property/property.h"
#include "reference/number/real.h"
#include "reference/number/tensor.h"

namespace sextant::oracle {

// The factors of positions that are changed first, read off queries of 1.
Response AskFactors(const Case& c, Tensors inputs, const Ask& ask,
                    const std::function<double(double)>& change);

// A formula with a mutation: y = q times Factor<Real>(position), or with `by_head` of the position
// that has the head's number.
template <class Real, class Formula>
void ScaleByFactor(const Formula& formula, bool by_head, const Tensor<Real>& q,
                   const Tensor<double>& position, Tensor<Real>& y) {
  for (size_t h = 0; h < q.shape[1]; ++h) {
    for (size_t s = 0; s < q.shape[2]; ++s) {
      const double p = position(by_head ? h % q.shape[2] : s);
      const TableFactor<Real> scale(formula.template Factor<Real>(p), Real(1.0));
      for (size_t b = 0; b < q.shape[0]; ++b) {
        for (size_t d = 0; d < q.shape[3]; ++d) y(b, h, s, d) = scale(q(b, h, s, d));
      }
    }
  }
}

// -2 q gives -2 y, and all channels of a token have the same factor.
std::vector<Property> PropertiesOfFactors();

// One factor for another token, kept in too few bits, on the wrong axis.
std::vector<Defect> FactorDefects();

}  // namespace sextant::oracle
