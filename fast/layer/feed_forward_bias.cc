#include "reference/layer/feed_forward_bias.h"

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/layer/feed_forward.h"

namespace sextant::fast {
namespace {

Tensors RunFeedForwardBias(const Case& c, const Tensors& inputs) {
  return RunFeedForward(c, inputs, StructOf<FeedForwardBias>(c).kind);
}

}  // namespace

template <>
CaseKernel MakeKernel<FeedForwardBias>() {
  return {DeclinesMixedTypes, RunFeedForwardBias};
}

}  // namespace sextant::fast
