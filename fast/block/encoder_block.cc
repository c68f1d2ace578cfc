#include "fast/block/encoder_block.h"

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/layer/activation.h"
#include "fast/layer/add.h"
#include "fast/layer/layer_norm.h"
#include "fast/layer/linear.h"

namespace sextant::fast {

template <Element T>
EncoderMemory<T>::EncoderMemory(const EncoderBlock& block, size_t m, size_t d, size_t f)
    : M(m),
      D(d),
      F(f),
      attention(block.MakeAttention()),
      heads(attention, D),
      positioned(static_cast<size_t>(block.S.value) * M),
      read(positioned.size()),
      attention_out(positioned.size()),
      middle(positioned.size()),
      hidden(static_cast<size_t>(block.S.value) * F) {}

template <Element T>
void Encode(const EncoderBlock& block, const T* x, const T* positions, const EncoderWeights<T>& w,
            EncoderMemory<T>& m, T* y) {
  const bool pre = block.placement == NormPlacement::kPre;
  const size_t S = static_cast<size_t>(block.S.value), M = m.M, F = m.F, count = S * M;
  const auto row = static_cast<ptrdiff_t>(M);
  const CenteredRows rows{S, M, row, row, block.eps};
  const auto norm1 = [&](const T* from, T* to) {
    NormalizeCentered(rows, from, w.norm1_weight.data(), w.norm1_bias.data(), to);
  };
  const auto norm2 = [&](const T* from, T* to) {
    NormalizeCentered(rows, from, w.norm2_weight.data(), w.norm2_bias.data(), to);
  };
  T *u = m.positioned.data(), *h = m.middle.data();
  Add<T>(count, x, positions, nullptr, u);
  if (pre) norm1(u, m.read.data());
  const T* read = pre ? m.read.data() : u;
  AttendHeads({&m.attention, M, m.D}, read, read, w.heads, m.heads, m.attention_out.data());
  Add<T>(count, u, m.attention_out.data(), nullptr, h);
  if (!pre) norm1(h, h);

  if (pre) norm2(h, m.read.data());
  ApplyLinear({S, F, M}, pre ? m.read.data() : h, w.w1.data(), w.b1.data(), m.hidden.data());
  Activate<T>(block.FeedForwardActivation(), 1, m.hidden.data(), m.hidden.data(), S * F);
  ApplyLinear({S, M, F}, m.hidden.data(), w.w2.data(), w.b2.data(), y);
  Add<T>(count, h, y, nullptr, y);
  if (!pre) norm2(y, y);
}

template struct EncoderMemory<double>;
template struct EncoderMemory<float>;
template struct EncoderMemory<F16>;
template struct EncoderMemory<BF16>;
template void Encode(const EncoderBlock&, const double*, const double*,
                     const EncoderWeights<double>&, EncoderMemory<double>&, double*);
template void Encode(const EncoderBlock&, const float*, const float*, const EncoderWeights<float>&,
                     EncoderMemory<float>&, float*);
template void Encode(const EncoderBlock&, const F16*, const F16*, const EncoderWeights<F16>&,
                     EncoderMemory<F16>&, F16*);
template void Encode(const EncoderBlock&, const BF16*, const BF16*, const EncoderWeights<BF16>&,
                     EncoderMemory<BF16>&, BF16*);

namespace {

StoredTensors RunEncoderBlock(const Case& c, const StoredTensors& inputs) {
  const auto block = StructOf<EncoderBlock>(c);
  StoredTensors outputs = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    const Elements<T> x(inputs, "x"), positions(inputs, "position_table");
    EncoderMemory<T> buffers(block, ExtentOf(c, "M"), ExtentOf(c, "D"), ExtentOf(c, "F"));
    Encode(block, x.data(), positions.data(), NamedElements<EncoderWeights<T>>(inputs), buffers,
           outputs[0].As<T>());
    CopyTo(outputs[1], buffers.attention_out);
    CopyTo(outputs[2], buffers.middle);
    CopyTo(outputs[3], buffers.hidden);
  });
  return outputs;
}

}  // namespace

template <>
CaseKernel MakeKernel<EncoderBlock>() {
  return {DeclinesMixedTypes, RunEncoderBlock};
}

}  // namespace sextant::fast
