#include "reference/rope/rope_rotate.h"

#include "reference/case/operation.h"
#include "reference/number/real.h"

namespace sextant {

void CheckWindow(int64_t offset, int64_t rotary_width, int64_t head_width) {
  if (rotary_width % 2 != 0) {
    throw Error("dimension R is ", rotary_width, ", expected a multiple of 2",
                rotary_width == head_width ? " (unless given, R is D)" : "");
  }
  if (rotary_width > head_width) {
    throw Error("dimension R is ", rotary_width, ", expected at most D, which is ", head_width);
  }
  if (offset < 0 || offset > head_width - rotary_width) {
    throw Error("offset is ", offset, ", expected 0 to ", head_width - rotary_width,
                " (D - R: the window of rotated channels lies inside the head)");
  }
}

void RopeRotate::Check() const { CheckWindow(offset, R.value, D.value); }

template <class Real>
void RopeRotate::operator()(const Tensor<Real>& x, const Tensor<Real>& cos, const Tensor<Real>& sin,
                            Tensor<Real>& y) const {
  const size_t half = cos.shape[2], rotary_width = 2 * half, start = static_cast<size_t>(offset);
  y.data = x.data;
  const ScopedStep at(Step::kRotate);
  for (size_t b = 0; b < x.shape[0]; ++b) {
    for (size_t h = 0; h < x.shape[1]; ++h) {
      for (size_t s = 0; s < x.shape[2]; ++s) {
        for (size_t k = 0; k < half; ++k) {
          auto [i, j] = ChannelsOf(pairing, k, rotary_width);
          i += start;
          j += start;
          const Real& c = cos(b, s, k);
          const Real si = direction == Direction::kForward ? sin(b, s, k) : -sin(b, s, k);
          y(b, h, s, i) = x(b, h, s, i) * c - x(b, h, s, j) * si;
          y(b, h, s, j) = x(b, h, s, i) * si + x(b, h, s, j) * c;
        }
      }
    }
  }
}

template void RopeRotate::operator()(const Tensor<Interval>&, const Tensor<Interval>&,
                                     const Tensor<Interval>&, Tensor<Interval>&) const;
template void RopeRotate::operator()(const Tensor<Counted>&, const Tensor<Counted>&,
                                     const Tensor<Counted>&, Tensor<Counted>&) const;
template void RopeRotate::operator()(const Tensor<Rounded>&, const Tensor<Rounded>&,
                                     const Tensor<Rounded>&, Tensor<Rounded>&) const;
template void RopeRotate::operator()(const Tensor<BoostReal>&, const Tensor<BoostReal>&,
                                     const Tensor<BoostReal>&, Tensor<BoostReal>&) const;

template <>
std::unique_ptr<Operation> MakeOperation<RopeRotate>() {
  return Wrap<RopeRotate>();
}

}  // namespace sextant
