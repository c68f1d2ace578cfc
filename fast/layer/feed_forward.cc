#include "fast/layer/feed_forward.h"

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "reference/layer/feed_forward.h"

namespace sextant::fast {

template <Element T>
void ApplyFeedForward(GateKind kind, const FeedForwardRows<T>& rows,
                      const FeedForwardWeights<T>& weights) noexcept {
  const auto& [N, M, F, x, y, hidden, other, sums] = rows;
  ApplyLinear<T>({N, F, M}, x, weights.gate, weights.gate_bias, hidden, sums);
  ApplyLinear<T>({N, F, M}, x, weights.up, weights.up_bias, other, sums);
  const auto row = static_cast<ptrdiff_t>(F);
  Gate<T>({.N = N, .F = F, .gate_row = row, .up_row = row, .y_row = row, .kind = kind}, hidden,
          other, hidden);
  ApplyLinear<T>({N, M, F}, hidden, weights.down, weights.down_bias, y, sums);
}

template void ApplyFeedForward(GateKind, const FeedForwardRows<double>&,
                               const FeedForwardWeights<double>&) noexcept;
template void ApplyFeedForward(GateKind, const FeedForwardRows<float>&,
                               const FeedForwardWeights<float>&) noexcept;
template void ApplyFeedForward(GateKind, const FeedForwardRows<F16>&,
                               const FeedForwardWeights<F16>&) noexcept;
template void ApplyFeedForward(GateKind, const FeedForwardRows<BF16>&,
                               const FeedForwardWeights<BF16>&) noexcept;

namespace {

Tensors RunFeedForward(const Case& c, const Tensors& inputs) {
  const size_t N = ExtentOf(c, "N"), M = ExtentOf(c, "M"), F = ExtentOf(c, "F");
  return WithElement(c.dtype(), [&]<class T>() -> Tensors {
    std::vector<std::vector<T>> in;
    for (const NamedTensor& input : inputs) in.push_back(ToElements<T>(input.values));
    const auto named = [&](const char* name) -> const T* {
      const auto at = std::ranges::find(inputs, name, &NamedTensor::name);
      return at == inputs.end() ? nullptr : in[static_cast<size_t>(at - inputs.begin())].data();
    };
    std::vector<T> y(N * M), hidden(N * F), other(N * F);
    std::vector<Computed<T>> sums(kLinearScratch);
    ApplyFeedForward<T>(StructOf<FeedForward>(c).kind,
                        {N, M, F, named("x"), y.data(), hidden.data(), other.data(), sums.data()},
                        {named("gate"), named("up"), named("down"), named("gate_bias"),
                         named("up_bias"), named("down_bias")});
    return {ToTensor("y", {N, M}, y), ToTensor("hidden", {N, F}, hidden)};
  });
}

}  // namespace

template <>
CaseKernel MakeKernel<FeedForward>() {
  return {DeclinesMixedTypes, RunFeedForward};
}

}  // namespace sextant::fast
