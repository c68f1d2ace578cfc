// Kernels that answer codes: each row is quantized as soon as it is computed.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "fast/kernel/typed.h"
#include "fast/layer/quantize.h"
#include "reference/case/case.h"

namespace sextant::fast {

// The outputs of a case of quantize, or of an operation that ends with it, whose numbers have the
// shape [N,A,G,M]. row_of<T>(n, buffer) returns row n, of A G M elements; it may write it to the
// buffer, which is as long.
template <class RowOf>
StoredTensors QuantizedRows(const Case& c, Quantize op, const StoredTensors& inputs,
                            const Shape& shape, const RowOf& row_of) {
  StoredTensors outputs = OutputsOf(c);
  op.scale_dtype = outputs[0].dtype();
  op.rounded_dtype = outputs[1].dtype();
  const size_t A = shape[1], G = shape[2], M = shape[3], size = A * G * M;
  const StoredTensor* const given = FindInput(inputs, "tensor_scale");
  const double tensor_scale = given ? ValuesOf(*given).data[0] : 1;
  const bool is_usual = op.scale_rule == ScaleRule::kQuotient && op.ties == Ties::kEven &&
                        op.scale_dtype == DTypeOf(Role::kScale, c.dtype()) && tensor_scale == 1;
  const QuantizedBlocks blocks{
      G,           A, M, G * M, op.rounded_dtype, op.Limit(), op.least, is_usual ? nullptr : &op,
      tensor_scale};
  WithElement(c.dtype(), [&]<class T>() {
    std::vector<Computed<T>> scale(CountOf(outputs[0].shape()));
    InRowParts(shape[0], size, [&](size_t first, size_t count) {
      std::vector<T> buffer(size);
      for (size_t n = first; n < first + count; ++n)
        QuantizeRow(blocks, row_of(n, buffer.data()), scale.data() + n * G,
                    outputs[1].As<uint8_t>() + n * size);
    });
    std::vector<double> stored(scale.begin(), scale.end());
    for (double& s : stored) s = RoundTo(op.scale_dtype, s);
    outputs[0].Write(0, stored);
  });
  return outputs;
}

}  // namespace sextant::fast
