#include "reference/attention/attention.h"

#include "fast/attention/attend_rows.h"
#include "fast/kernel/kernel.h"

namespace sextant::fast {
namespace {

Tensors RunAttention(const Case& c, const Tensors& inputs) {
  return AttendCase(StructOf<Attention>(c), c.dtype(), inputs[0].values, inputs[1].values,
                    inputs[2].values);
}

}  // namespace

template <>
CaseKernel MakeKernel<Attention>() {
  return {DeclinesMixedTypes, RunAttention};
}

}  // namespace sextant::fast
