#include "reference/position/sinusoidal.h"

#include <algorithm>

#include "reference/case/operation.h"

namespace sextant {

void Sinusoidal::Check() const {
  if (!(base > 0)) throw Error("base is ", base, ", expected more than 0");
  if (M.value % 2 != 0) throw Error("dimension M is ", M.value, ", expected a multiple of 2");
}

template <class Real>
void Sinusoidal::operator()(const Tensor<double>& position, Tensor<Real>& y) const {
  const auto half = static_cast<int64_t>(y.shape[1] / 2);
  const bool paper = denominator == Denominator::kPaper;
  for (int64_t k = 0; k < half; ++k) {
    // tensor2tensor's exponent k / (M/2 - 1) is written as 2k / (M - 2), because the forms of step
    // frequency expect a numerator 2k.
    const int64_t n = paper ? 2 * half : std::max<int64_t>(2 * half - 2, 2);
    AngleTable<Real> angles(InversePower<Real>(base, 2 * k, n));
    const bool interleaved = layout == Layout::kInterleaved;
    const int64_t sine = interleaved ? 2 * k : k, cosine = interleaved ? 2 * k + 1 : half + k;
    for (size_t s = 0; s < position.shape[0]; ++s) {
      const auto [c, si] = angles(position(s));
      const ScopedStep at(Step::kTable);
      y(s, sine) = Converted(si);
      y(s, cosine) = Converted(c);
    }
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<Sinusoidal>() {
  return Wrap<Sinusoidal>();
}

}  // namespace sextant
