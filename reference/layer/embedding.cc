#include "reference/layer/embedding.h"

#include "reference/case/operation.h"

namespace sextant {

size_t RowOfToken(const Tensor<double>& token, size_t s, size_t V) {
  const double t = token(s);
  if (t >= 0 && t < static_cast<double>(V)) return static_cast<size_t>(t);
  if (V == 0) throw Error("dimension V is 0, expected 1 or more: token[", s, "] is a row of table");
  throw Error("token[", s, "] is ", t, ", expected 0 to ", static_cast<double>(V) - 1,
              ": the table has ", V, " rows");
}

template <class Real>
void Embedding::operator()(const Tensor<double>& token, const Tensor<Real>& table,
                           Tensor<Real>& y) const {
  const ScopedStep at(Step::kScale);
  const Real factor(scale);
  for (size_t s = 0; s < y.shape[0]; ++s) {
    const size_t row = RowOfToken(token, s, table.shape[0]);
    for (size_t j = 0; j < y.shape[1]; ++j) y(s, j) = table(row, j) * factor;
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<Embedding>() {
  return Wrap<Embedding>();
}

}  // namespace sextant
