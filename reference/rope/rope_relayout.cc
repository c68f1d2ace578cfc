#include "reference/rope/rope_relayout.h"

#include "reference/case/operation.h"
#include "reference/rope/rope_rotate.h"

namespace sextant {

void RopeRelayout::Check() const { CheckWindow(offset, R.value, D.value); }

template <class Real>
void RopeRelayout::operator()(const Tensor<Real>& weight, Tensor<Real>& y) const {
  const auto heads = static_cast<size_t>(H.value), width = static_cast<size_t>(D.value);
  const auto rotary = static_cast<size_t>(R.value), start = static_cast<size_t>(offset);
  y.data = weight.data;
  const auto copy_row = [&](size_t source, size_t target) {
    for (size_t m = 0; m < weight.shape[1]; ++m) y(target, m) = weight(source, m);
  };
  for (size_t h = 0; h < heads; ++h) {
    const size_t base = h * width + start;
    for (size_t k = 0; k < rotary / 2; ++k) {
      const PairOfChannels a = ChannelsOf(from, k, rotary), b = ChannelsOf(to, k, rotary);
      copy_row(base + a.first, base + b.first);
      copy_row(base + a.second, base + b.second);
    }
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<RopeRelayout>() {
  return Wrap<RopeRelayout>();
}

}  // namespace sextant
