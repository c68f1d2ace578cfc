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
    std::vector<std::vector<T>> in;
    for (const NamedTensor& input : inputs) in.push_back(ToElements<T>(input.values));
    const MultiHeadWeights<T> weights{in[2].data(), in[3].data(), in[4].data(), in[5].data(),
                                      in[6].data(), in[7].data(), in[8].data(), in[9].data()};
    MultiHeadMemory<T> buffers(attention, D);
    std::vector<T> y(S * M);
    AttendHeads({&attention, M, D}, in[0].data(), in[1].data(), weights, buffers, y.data());
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
