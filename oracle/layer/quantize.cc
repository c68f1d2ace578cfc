#include "reference/layer/quantize.h"

#include <cmath>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/quantized_mutations.h"
#include "oracle/layer/quantized_properties.h"
#include "oracle/property/changed_inputs.h"
#include "reference/prove/rounding_operation.h"

namespace sextant::oracle {
namespace {

double LimitOf(const Case& c, const Response& y) {
  return NumberOf(c, "limit", MaxFinite(y.outputs[kCodes].dtype));
}

// Of each element, x / scale, unless it is limited: the code is within half a step of it.
Comparisons CheckNearCodes(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs);
  const BlockShape shape(inputs[0].values.shape);
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(kCodes); ++i) {
    const size_t block = shape.BlockOf(i);
    const double scale = y.outputs[kScale].values.data[block], x = inputs[0].values.data[i];
    if (scale == 0) continue;  // x / 0
    const double of_tensor = inputs.size() > 1 ? inputs[1].values.data[0] : 1;
    if (HasExactScale(c, y) && std::abs(x) > LimitOf(c, y) * scale * of_tensor) continue;
    const Measured by = (HasExactScale(c, y) ? Measured(scale) : y(kScale, block)) * of_tensor;
    comparisons.Equal(y(kCodes, i) * by, x, {y, kCodes, i});
  }
  return comparisons;
}

struct MutatedQuantize : Quantize {
  MutatedQuantization mutated;
  template <class Real>
  void operator()(const Tensor<double>& x, const Tensor<Real>* tensor_scale, Tensor<Real>& scale,
                  Tensor<Real>& codes) const {
    mutated.Apply(*this, x, tensor_scale, scale, codes);
  }
};

std::vector<Defect> QuantizeDefects() {
  auto mutations = QuantizeMutations();
  mutations.push_back({"scale_of_first_row", "the scale of a block is that of its first row",
                       MutatedQuantization::Mutation::kOfFirstRow});
  constexpr auto kMutation = [](MutatedQuantize & op) -> auto& { return op.mutated.mutation; };
  return MutatedFormulas<MutatedQuantize, kMutation, RoundingOperation<MutatedQuantize, false>>(
      mutations);
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Quantize>() {
  return {.properties = {{"near", "code times scale is within half a step of x", CheckNearCodes},
                         WholeRange(),
                         MirroredCodes({"x"}, "-x gives the same scale and -codes"),
                         ScaledCodes({"x"}, "2 x gives twice the scale and the same codes")},
          .defects = QuantizeDefects()};
}

}  // namespace sextant::oracle
