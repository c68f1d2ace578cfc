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
            EncoderMemory<T>& m, T* y) noexcept {
  const bool pre = block.placement == NormPlacement::kPre;
  const size_t S = static_cast<size_t>(block.S.value), M = m.M, F = m.F, count = S * M;
  const auto row = static_cast<ptrdiff_t>(M);
  const CenteredRows rows{S, M, row, row, block.eps};
  Computed<T>* scratch = m.heads.scratch.data();
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
  ApplyLinear({S, F, M}, pre ? m.read.data() : h, w.w1.data(), w.b1.data(), m.hidden.data(),
              scratch);
  Activate<T>(block.FeedForwardActivation(), 1, m.hidden.data(), m.hidden.data(), S * F);
  ApplyLinear({S, M, F}, m.hidden.data(), w.w2.data(), w.b2.data(), y, scratch);
  Add<T>(count, h, y, nullptr, y);
  if (!pre) norm2(y, y);
}

template struct EncoderMemory<double>;
template struct EncoderMemory<float>;
template struct EncoderMemory<F16>;
template struct EncoderMemory<BF16>;
template void Encode(const EncoderBlock&, const double*, const double*,
                     const EncoderWeights<double>&, EncoderMemory<double>&, double*) noexcept;
template void Encode(const EncoderBlock&, const float*, const float*, const EncoderWeights<float>&,
                     EncoderMemory<float>&, float*) noexcept;
template void Encode(const EncoderBlock&, const F16*, const F16*, const EncoderWeights<F16>&,
                     EncoderMemory<F16>&, F16*) noexcept;
template void Encode(const EncoderBlock&, const BF16*, const BF16*, const EncoderWeights<BF16>&,
                     EncoderMemory<BF16>&, BF16*) noexcept;

namespace {

Tensors RunEncoderBlock(const Case& c, const Tensors& inputs) {
  const auto block = StructOf<EncoderBlock>(c);
  const size_t S = ExtentOf(c, "S"), M = ExtentOf(c, "M"), F = ExtentOf(c, "F");
  return WithElement(c.dtype(), [&]<class T>() -> Tensors {
    const auto x = ToElements<T>(Find(inputs, "x").values);
    const auto positions = ToElements<T>(Find(inputs, "position_table").values);
    const auto weights = NamedElements<EncoderWeights<T>>(inputs);
    EncoderMemory<T> buffers(block, M, ExtentOf(c, "D"), F);
    std::vector<T> y(S * M);
    Encode(block, x.data(), positions.data(), weights, buffers, y.data());
    return {ToTensor("y", {S, M}, y), ToTensor("attention_out", {S, M}, buffers.attention_out),
            ToTensor("middle", {S, M}, buffers.middle), ToTensor("hidden", {S, F}, buffers.hidden)};
  });
}

}  // namespace

template <>
CaseKernel MakeKernel<EncoderBlock>() {
  return {DeclinesMixedTypes, RunEncoderBlock};
}

}  // namespace sextant::fast
