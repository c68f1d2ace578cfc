#include "tools/api/element_errors.h"

#include <algorithm>
#include <cmath>

#include "oracle/judge/tensor_judge.h"

namespace sextant::tools {
namespace {

ElementErrors ErrorsOfOutput(const GoldenTensor& golden, const PermittedTensor& permitted,
                             const Tensor<double>& output) {
  ElementErrors errors{golden.name, Tensor<double>(output.shape), Tensor<double>(output.shape)};
  for (size_t i = 0; i < output.data.size(); ++i) {
    const double error = oracle::ErrorOf(golden, i, output.data[i]);
    const bool is_known = !std::isnan(golden.radius.data[i]) && !IsUnspecified(golden, i);
    errors.error.data[i] = std::isnan(error) && is_known ? kInfinity : error;
    errors.permitted.data[i] = permitted.error.data[i] + std::max(0.0, golden.radius.data[i]);
  }
  return errors;
}

}  // namespace

std::vector<ElementErrors> ErrorsOf(const oracle::Judge& judge, const Tensors& outputs) {
  std::vector<ElementErrors> all;
  for (size_t o = 0; o < judge.golden().size(); ++o) {
    const GoldenTensor& golden = judge.golden()[o];
    const auto at = std::ranges::find(outputs, golden.name, &NamedTensor::name);
    if (at != outputs.end())
      all.push_back(ErrorsOfOutput(golden, judge.permitted()[o], at->values));
  }
  return all;
}

}  // namespace sextant::tools
