#include "reference/layer/feed_forward.h"

#include "reference/case/intermediate.h"
#include "reference/case/operation.h"
#include "reference/layer/linear.h"

namespace sextant {

template <class Real>
void FeedForward::operator()(const Tensor<Real>& x, const Tensor<Real>& gate,
                             const Tensor<Real>& up, const Tensor<Real>& down, Tensor<Real>& y,
                             Tensor<Real>& hidden) const {
  Tensor<Real> gated(hidden.shape), other(hidden.shape);
  Linear()(x, gate, gated);
  Linear()(x, up, other);
  Gated{.kind = kind}(Stored(std::move(gated)), Stored(std::move(other)), hidden);
  Linear()(Intermediate(hidden), down, y);
}

template void FeedForward::operator()(const Tensor<Interval>&, const Tensor<Interval>&,
                                      const Tensor<Interval>&, const Tensor<Interval>&,
                                      Tensor<Interval>&, Tensor<Interval>&) const;
template void FeedForward::operator()(const Tensor<Counted>&, const Tensor<Counted>&,
                                      const Tensor<Counted>&, const Tensor<Counted>&,
                                      Tensor<Counted>&, Tensor<Counted>&) const;
template void FeedForward::operator()(const Tensor<Rounded>&, const Tensor<Rounded>&,
                                      const Tensor<Rounded>&, const Tensor<Rounded>&,
                                      Tensor<Rounded>&, Tensor<Rounded>&) const;
template void FeedForward::operator()(const Tensor<BoostReal>&, const Tensor<BoostReal>&,
                                      const Tensor<BoostReal>&, const Tensor<BoostReal>&,
                                      Tensor<BoostReal>&, Tensor<BoostReal>&) const;

template <>
std::unique_ptr<Operation> MakeOperation<FeedForward>() {
  return Wrap<FeedForward>();
}

}  // namespace sextant
