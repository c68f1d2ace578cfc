// Properties and defects of the operations that multiply queries q[B,H,S,D] by a factor that
// depends on position[S]: log_n_scale, temperature_scale.
#pragma once

#include <functional>
#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/property/property.h"
#include "reference/number/real.h"
#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

// The factors at the changed positions: the answer for queries of 1.
Response AskFactors(const Case& c, Tensors inputs, const Ask& ask,
                    const std::function<double(double)>& change);

// A mutated formula: y = q * Factor<Real>(position). With `by_head`, the position is indexed by
// the head.
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

// y is linear in q, and all channels of a token have the same factor.
std::vector<Property> PropertiesOfFactors();

// The factor of another token, or computed or stored in a too narrow format.
std::vector<Defect> FactorDefects();

}  // namespace sextant::oracle
