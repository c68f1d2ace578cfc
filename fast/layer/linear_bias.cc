#include "reference/layer/linear_bias.h"

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/layer/linear.h"

namespace sextant::fast {

template <>
CaseKernel MakeKernel<LinearBias>() {
  return {DeclinesMixedTypes, RunLinear};
}

}  // namespace sextant::fast
