#include "reference/position/alibi.h"

#include "reference/case/operation.h"

namespace sextant {

template <class Real>
void Alibi::operator()(const Tensor<Real>& slope, const Tensor<double>& query_position,
                       const Tensor<double>& key_position, Tensor<Real>& bias) const {
  const auto number = [](double position) { return Real(position, DType::kI64); };
  for (size_t s = 0; s < bias.shape[1]; ++s) {
    for (size_t t = 0; t < bias.shape[2]; ++t) {
      const double i = query_position(s), j = key_position(t);
      Real distance;  // the factor of the slope
      {
        const ScopedStep at(Step::kDistance);
        distance = form == AlibiForm::kKey                  ? Converted(number(j))
                   : form == AlibiForm::kSymmetric && j > i ? number(i) - number(j)
                                                            : number(j) - number(i);
      }
      const ScopedStep at(Step::kBias);
      for (size_t h = 0; h < bias.shape[0]; ++h) bias(h, s, t) = slope(h) * distance;
    }
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<Alibi>() {
  return Wrap<Alibi>();
}

}  // namespace sextant
