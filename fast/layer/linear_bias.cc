#include "reference/linear_bias.h"

#include "fast/kernel.h"
#include "fast/linear.h"
#include "fast/typed.h"

namespace sextant::fast {

template <>
CaseKernel MakeKernel<LinearBias>() {
  return {DeclinesMixedTypes, AnswerLinear};
}

}  // namespace sextant::fast
