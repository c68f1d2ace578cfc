#include "reference/rope/rope_matrix.h"

#include "reference/case/operation.h"
#include "reference/rope/rope_table.h"

namespace sextant {

void RopeMatrix::Check() const {
  Frequencies().Check();
  if (D.value % 2 != 0) throw Error("dimension D is ", D.value, ", expected a multiple of 2");
}

template <class Real>
void RopeMatrix::operator()(const Tensor<double>& position, Tensor<Real>& matrix) const {
  const size_t width = matrix.shape[1], half = width / 2;
  Tensor<Real> inv_freq({half}), factor;
  Frequencies()(inv_freq, factor);
  const Shape table = {1, position.shape[0], half};
  Tensor<Real> cos(table), sin(table);
  RopeTable::Fill({{1, position.shape[0]}, position.data}, inv_freq, factor(), cos, sin);
  std::ranges::fill(matrix.data, Real(0.0));
  for (size_t s = 0; s < position.shape[0]; ++s) {
    for (size_t k = 0; k < half; ++k) {
      const auto [i, j] = ChannelsOf(pairing, k, width);
      matrix(s, i, i) = cos(0, s, k);
      matrix(s, i, j) = -sin(0, s, k);
      matrix(s, j, i) = sin(0, s, k);
      matrix(s, j, j) = cos(0, s, k);
    }
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<RopeMatrix>() {
  return Wrap<RopeMatrix>();
}

}  // namespace sextant
