#include "reference/attention/cross_attention.h"

#include "fast/attention/multi_head.h"
#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"

namespace sextant::fast {
namespace {

StoredTensors RunCrossAttention(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<CrossAttention>(c);
  const Attention attention = op.MakeAttention();
  const size_t M = ExtentOf(c, "M"), D = ExtentOf(c, "D");
  StoredTensors outputs = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    const Elements<T> x(inputs, "x"), memory(inputs, "memory");
    MultiHeadMemory<T> buffers(attention, D);
    AttendHeads({&attention, M, D}, x.data(), memory.data(),
                NamedElements<MultiHeadWeights<T>>(inputs), buffers, outputs[0].As<T>());
    const std::vector<T>* const others[] = {&buffers.q, &buffers.k, &buffers.v, &buffers.mean};
    for (size_t i = 0; i < std::size(others); ++i) CopyTo(outputs[i + 1], *others[i]);
  });
  return outputs;
}

}  // namespace

template <>
CaseKernel MakeKernel<CrossAttention>() {
  return {DeclinesMixedTypes, RunCrossAttention};
}

}  // namespace sextant::fast
