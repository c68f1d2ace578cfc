#include "fast/layer/feed_forward.h"

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "reference/layer/feed_forward.h"

namespace sextant::fast {

template <Element T>
void ApplyFeedForward(GateKind kind, const FeedForwardRows<T>& rows,
                      const FeedForwardWeights<T>& weights) {
  const auto& [N, M, F, x, y, hidden, other] = rows;
  ApplyLinear<T>({N, F, M}, x, weights.gate, weights.gate_bias, hidden);
  ApplyLinear<T>({N, F, M}, x, weights.up, weights.up_bias, other);
  const auto row = static_cast<ptrdiff_t>(F);
  Gate<T>({.N = N, .F = F, .gate_row = row, .up_row = row, .y_row = row, .kind = kind}, hidden,
          other, hidden);
  ApplyLinear<T>({N, M, F}, hidden, weights.down, weights.down_bias, y);
}

template void ApplyFeedForward(GateKind, const FeedForwardRows<double>&,
                               const FeedForwardWeights<double>&);
template void ApplyFeedForward(GateKind, const FeedForwardRows<float>&,
                               const FeedForwardWeights<float>&);
template void ApplyFeedForward(GateKind, const FeedForwardRows<F16>&,
                               const FeedForwardWeights<F16>&);
template void ApplyFeedForward(GateKind, const FeedForwardRows<BF16>&,
                               const FeedForwardWeights<BF16>&);

namespace {

StoredTensors RunFeedForward(const Case& c, const StoredTensors& inputs) {
  const size_t N = ExtentOf(c, "N"), M = ExtentOf(c, "M"), F = ExtentOf(c, "F");
  StoredTensors outputs = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    const auto named = [&](const char* name) -> const T* {
      const StoredTensor* const input = FindInput(inputs, name);
      return input ? input->As<T>() : nullptr;
    };
    std::vector<T> other(N * F);
    ApplyFeedForward<T>(StructOf<FeedForward>(c).kind,
                        {N, M, F, named("x"), outputs[0].As<T>(), outputs[1].As<T>(), other.data()},
                        {named("gate"), named("up"), named("down"), named("gate_bias"),
                         named("up_bias"), named("down_bias")});
  });
  return outputs;
}

}  // namespace

template <>
CaseKernel MakeKernel<FeedForward>() {
  return {DeclinesMixedTypes, RunFeedForward};
}

}  // namespace sextant::fast
