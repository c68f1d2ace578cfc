#include "fast/attention/multi_head.h"

#include <algorithm>
#include <cmath>

#include "fast/attention/attend.h"
#include "fast/layer/linear.h"

namespace sextant::fast {
namespace {

size_t Extent(const Dimension& dimension) { return static_cast<size_t>(dimension.value); }

template <Element T>
AttendInputs<T> InputsOf(const MultiHeadShape& shape, const MultiHeadMemory<T>& buffers) {
  const Attention& attention = *shape.attention;
  AttendInputs<T> in;
  in.attributes = &attention;
  in.D = in.E = shape.D;
  in.q = buffers.q.data();
  in.k = buffers.k.data();
  in.v = buffers.v.data();
  in.scale = ScaleOf(attention, shape.D);
  return in;
}

}  // namespace

template <Element T>
MultiHeadMemory<T>::MultiHeadMemory(const Attention& attention, size_t D)
    : q(Extent(attention.H) * Extent(attention.S) * D),
      k(Extent(attention.K) * Extent(attention.T) * D),
      v(k.size()),
      mean(q.size()),
      mean_by_head(q.size()),
      lse(Extent(attention.H) * Extent(attention.S)) {}

template <Element T>
void AttendHeads(const MultiHeadShape& shape, const T* x, const T* memory,
                 const MultiHeadWeights<T>& w, MultiHeadMemory<T>& buffers, T* y) {
  const size_t M = shape.M, D = shape.D;
  const size_t H = Extent(shape.attention->H), K = Extent(shape.attention->K),
               S = Extent(shape.attention->S), keys = Extent(shape.attention->T);
  // Projects head by head, so that the rows of each head are contiguous.
  const auto project = [&](const T* from, size_t rows, size_t heads, std::span<const T> weight,
                           std::span<const T> bias, T* to) {
    for (size_t h = 0; h < heads; ++h) {
      ApplyLinear({rows, D, M}, from, weight.data() + h * D * M, bias.data() + h * D,
                  to + h * rows * D);
    }
  };
  project(x, S, H, w.wq, w.bq, buffers.q.data());
  project(memory, keys, K, w.wk, w.bk, buffers.k.data());
  project(memory, keys, K, w.wv, w.bv, buffers.v.data());
  Attend(InputsOf(shape, buffers), buffers.mean_by_head.data(), buffers.lse.data());
  ExchangeAxes(H, S, D, buffers.mean_by_head.data(), buffers.mean.data());
  ApplyLinear({S, M, H * D}, buffers.mean.data(), w.wo.data(), w.bo.data(), y);
}

template struct MultiHeadMemory<double>;
template struct MultiHeadMemory<float>;
template struct MultiHeadMemory<F16>;
template struct MultiHeadMemory<BF16>;
template void AttendHeads(const MultiHeadShape&, const double*, const double*,
                          const MultiHeadWeights<double>&, MultiHeadMemory<double>&, double*);
template void AttendHeads(const MultiHeadShape&, const float*, const float*,
                          const MultiHeadWeights<float>&, MultiHeadMemory<float>&, float*);
template void AttendHeads(const MultiHeadShape&, const F16*, const F16*,
                          const MultiHeadWeights<F16>&, MultiHeadMemory<F16>&, F16*);
template void AttendHeads(const MultiHeadShape&, const BF16*, const BF16*,
                          const MultiHeadWeights<BF16>&, MultiHeadMemory<BF16>&, BF16*);

}  // namespace sextant::fast
