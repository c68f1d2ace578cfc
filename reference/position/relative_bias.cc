#include "reference/position/relative_bias.h"

#include "reference/case/operation.h"
#include "reference/position/relative_buckets.h"

namespace sextant {

void RelativeBias::Check() const { RelativeBuckets(P.value, max_distance, bidirectional); }

template <class Real>
void RelativeBias::operator()(const Tensor<Real>& table, const Tensor<double>& query_position,
                              const Tensor<double>& key_position, Tensor<Real>& bias) const {
  const RelativeBuckets buckets(P.value, max_distance, bidirectional);
  for (size_t s = 0; s < bias.shape[1]; ++s) {
    for (size_t t = 0; t < bias.shape[2]; ++t) {
      const int64_t row = buckets.RowOf(static_cast<int64_t>(query_position(s)),
                                        static_cast<int64_t>(key_position(t)));
      for (size_t h = 0; h < bias.shape[0]; ++h) bias(h, s, t) = table(row, h);
    }
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<RelativeBias>() {
  return Wrap<RelativeBias>();
}

}  // namespace sextant
