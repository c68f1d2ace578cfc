#include "reference/layer/feed_forward.h"

#include <algorithm>

#include "reference/case/intermediate.h"
#include "reference/case/operation.h"
#include "reference/layer/linear.h"
#include "reference/number/recipe/in_parallel_here.h"

namespace sextant {

template <class Real>
void ApplyGate(const Gated& gated, const Tensor<Real>& gate, const Tensor<Real>& up,
               Tensor<Real>& hidden) {
  const size_t width = hidden.shape[1];
  const auto row_of = [width](const Tensor<Real>& x, size_t n) {
    const auto first = x.data.begin() + static_cast<ptrdiff_t>(n * width);
    return Tensor<Real>({1, width}, {first, first + static_cast<ptrdiff_t>(width)});
  };
  InParallelHere(hidden.shape[0], [&](size_t n) {
    Tensor<Real> y({1, width});
    gated(row_of(gate, n), row_of(up, n), y);
    std::ranges::copy(y.data, hidden.data.begin() + static_cast<ptrdiff_t>(n * width));
  });
}

template void ApplyGate(const Gated&, const Tensor<Interval>&, const Tensor<Interval>&,
                        Tensor<Interval>&);
template void ApplyGate(const Gated&, const Tensor<Counted>&, const Tensor<Counted>&,
                        Tensor<Counted>&);
template void ApplyGate(const Gated&, const Tensor<Rounded>&, const Tensor<Rounded>&,
                        Tensor<Rounded>&);
template void ApplyGate(const Gated&, const Tensor<BoostReal>&, const Tensor<BoostReal>&,
                        Tensor<BoostReal>&);

template <class Real>
void FeedForward::operator()(const Tensor<Real>& x, const Weights<Real>& gate,
                             const Weights<Real>& up, const Weights<Real>& down,
                             const Tensor<Real>* gate_bias, const Tensor<Real>* up_bias,
                             const Tensor<Real>* down_bias, Tensor<Real>& y,
                             Tensor<Real>& hidden) const {
  Tensor<Real> gate_product(hidden.shape), up_product(hidden.shape);
  Linear()(x, gate, gate_bias, gate_product);
  Linear()(x, up, up_bias, up_product);
  ApplyGate(Gated{.kind = kind}, Stored(std::move(gate_product)), Stored(std::move(up_product)),
            hidden);
  Linear()(Intermediate(hidden), down, down_bias, y);
}

template void FeedForward::operator()(const Tensor<Interval>&, const Weights<Interval>&,
                                      const Weights<Interval>&, const Weights<Interval>&,
                                      const Tensor<Interval>*, const Tensor<Interval>*,
                                      const Tensor<Interval>*, Tensor<Interval>&,
                                      Tensor<Interval>&) const;
template void FeedForward::operator()(const Tensor<Counted>&, const Weights<Counted>&,
                                      const Weights<Counted>&, const Weights<Counted>&,
                                      const Tensor<Counted>*, const Tensor<Counted>*,
                                      const Tensor<Counted>*, Tensor<Counted>&,
                                      Tensor<Counted>&) const;
template void FeedForward::operator()(const Tensor<Rounded>&, const Weights<Rounded>&,
                                      const Weights<Rounded>&, const Weights<Rounded>&,
                                      const Tensor<Rounded>*, const Tensor<Rounded>*,
                                      const Tensor<Rounded>*, Tensor<Rounded>&,
                                      Tensor<Rounded>&) const;
template void FeedForward::operator()(const Tensor<BoostReal>&, const Weights<BoostReal>&,
                                      const Weights<BoostReal>&, const Weights<BoostReal>&,
                                      const Tensor<BoostReal>*, const Tensor<BoostReal>*,
                                      const Tensor<BoostReal>*, Tensor<BoostReal>&,
                                      Tensor<BoostReal>&) const;

template <>
std::unique_ptr<Operation> MakeOperation<FeedForward>() {
  return Wrap<FeedForward>();
}

}  // namespace sextant
