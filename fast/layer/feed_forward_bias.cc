#include "reference/feed_forward_bias.h"

#include "fast/feed_forward.h"
#include "fast/kernel.h"
#include "fast/typed.h"

namespace sextant::fast {
namespace {

Tensors Run(const Case& c, const Tensors& inputs) {
  return AnswerFeedForward(c, inputs, StructOf<FeedForwardBias>(c).kind);
}

}  // namespace

template <>
CaseKernel MakeKernel<FeedForwardBias>() {
  return {DeclinesMixedTypes, Run};
}

}  // namespace sextant::fast
