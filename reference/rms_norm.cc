#include "reference/rms_norm.h"

#include "reference/operation.h"

namespace sextant {
namespace {

// mean_k(x_k^2) + eps of one row.
template <class Real>
Real MeanSquare(const Tensor<Real>& x, size_t row, double eps) {
  std::vector<Real> squares;
  {
    const InStep at(Step::kSquare);
    for (size_t k = 0; k < x.shape[1]; ++k) squares.push_back(x(row, k) * x(row, k));
  }
  Real sum;
  {
    const InStep at(Step::kSum);
    sum = SumOf(squares);
  }
  const InStep at(Step::kRsqrt);
  return sum / Real(static_cast<double>(squares.size())) + Real(eps);
}

}  // namespace

void RmsNorm::Check() const {
  if (eps < 0) throw Error("eps is ", eps, ", expected 0 or more");
}

template <class Real>
void RmsNorm::operator()(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) const {
  if (x.shape[1] == 0) return;
  std::vector<Real> factors;
  {
    const InStep at(Step::kWeigh);
    for (const Real& w : weight.data) factors.push_back(unit_offset ? Real(1.0) + w : w);
  }
  for (size_t n = 0; n < x.shape[0]; ++n) {
    const RowScale<Real> scale(MeanSquare(x, n, eps));
    for (size_t j = 0; j < x.shape[1]; ++j) y(n, j) = scale(x(n, j), factors[j]);
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<RmsNorm>() {
  return Wrap<RmsNorm>();
}

}  // namespace sextant
