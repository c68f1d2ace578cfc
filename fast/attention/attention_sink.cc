#include "reference/attention/attention_sink.h"

#include "fast/attention/attend_rows.h"
#include "fast/kernel/kernel.h"

namespace sextant::fast {
namespace {

Tensors RunAttentionSink(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<AttentionSink>(c);
  return AttendCase(op, c.dtype(), inputs[0].values, inputs[1].values, inputs[2].values,
                    {.sink = &inputs[3].values});
}

}  // namespace

template <>
CaseKernel MakeKernel<AttentionSink>() {
  return {DeclinesMixedTypes, RunAttentionSink};
}

}  // namespace sextant::fast
