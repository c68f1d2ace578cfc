#include "reference/position/temperature_scale.h"

#include "reference/case/operation.h"
#include "reference/number/real.h"

namespace sextant {

void TemperatureScale::Check() const {
  if (floor_scale < 1 || floor_scale > kLargestInteger) {
    throw Error("floor_scale is ", floor_scale, ", expected 1 to ", kLargestInteger);
  }
  if (start != 0 && start != 1) throw Error("start is ", start, ", expected 0 or 1");
}

int64_t TemperatureScale::Steps(double position) const {
  const int64_t n = static_cast<int64_t>(position) + start, quotient = n / floor_scale;
  return n % floor_scale < 0 ? quotient - 1 : quotient;
}

template <class Real>
void TemperatureScale::operator()(const Tensor<Real>& q, const Tensor<double>& position,
                                  Tensor<Real>& y) const {
  for (size_t s = 0; s < q.shape[2]; ++s) {
    Real factor;
    {
      // The logarithm of a number <= 0 is unspecified.
      const ScopedStep at(Step::kFactor);
      const Real steps(static_cast<double>(Steps(position(s))), DType::kI64);
      factor = Real(1.0) + Real(beta) * Log(Real(1.0) + steps);
    }
    const TableFactor<Real> scale(factor, Real(1.0));
    for (size_t b = 0; b < q.shape[0]; ++b) {
      for (size_t h = 0; h < q.shape[1]; ++h) {
        for (size_t d = 0; d < q.shape[3]; ++d) y(b, h, s, d) = scale(q(b, h, s, d));
      }
    }
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<TemperatureScale>() {
  return Wrap<TemperatureScale>();
}

}  // namespace sextant
