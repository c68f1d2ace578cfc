#include "reference/attention/cross_attention.h"

#include "fast/attention/multi_head.h"
#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"

namespace sextant::fast {
namespace {

Tensors RunCrossAttention(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<CrossAttention>(c);
  const Attention attention = op.MakeAttention();
  const size_t S = ExtentOf(c, "S"), keys = ExtentOf(c, "T"), H = ExtentOf(c, "H"),
               K = ExtentOf(c, "K"), M = ExtentOf(c, "M"), D = ExtentOf(c, "D");
  return WithElement(c.dtype(), [&]<class T>() -> Tensors {
    const auto x = ToElements<T>(Find(inputs, "x").values);
    const auto memory = ToElements<T>(Find(inputs, "memory").values);
    const auto weights = NamedElements<MultiHeadWeights<T>>(inputs);
    MultiHeadMemory<T> buffers(attention, D);
    std::vector<T> y(S * M);
    AttendHeads({&attention, M, D}, x.data(), memory.data(), weights, buffers, y.data());
    return {ToTensor("y", {S, M}, y), ToTensor("q", {H, S, D}, buffers.q),
            ToTensor("k", {K, keys, D}, buffers.k), ToTensor("v", {K, keys, D}, buffers.v),
            ToTensor("mean", {S, H * D}, buffers.mean)};
  });
}

}  // namespace

template <>
CaseKernel MakeKernel<CrossAttention>() {
  return {DeclinesMixedTypes, RunCrossAttention};
}

}  // namespace sextant::fast
