#include "reference/layer/rms_norm.h"

#include "reference/case/operation.h"
#include "reference/layer/normed_row.h"

namespace sextant {
void RmsNorm::Check() const {
  if (eps < 0) throw Error("eps is ", eps, ", expected 0 or more");
}

template <class Real>
void RmsNorm::operator()(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) const {
  const size_t M = x.shape[1];
  if (M == 0) return;
  std::vector<Real> factors;
  {
    const ScopedStep at(Step::kWeigh);
    for (const Real& w : weight.data) factors.push_back(unit_offset ? Real(1.0) + w : w);
  }
  for (size_t n = 0; n < x.shape[0]; ++n) {
    const NormedRow<Real> row(std::span(x.data).subspan(n * M, M), Real(eps));
    row.Weigh(factors, std::span(y.data).subspan(n * M, M));
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<RmsNorm>() {
  return Wrap<RmsNorm>();
}

}  // namespace sextant
