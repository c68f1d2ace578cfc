#include "reference/attention/attention.h"

#include "fast/attention/attend.h"
#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"

namespace sextant::fast {
namespace {

// A tensor of another dtype, with factors for its elements.
StoredTensor Scaled(const StoredTensor& x, const StoredTensor* scale, DType format) {
  Tensor<double> y = ValuesOf(x);
  if (scale) {
    const Tensor<double> by = ValuesOf(*scale);  // [B,K], x is [B,heads,rows,width]
    const size_t heads = y.shape[1], K = by.shape[1], count = y.shape[2] * y.shape[3];
    for (size_t i = 0; i < y.data.size(); ++i) {
      const size_t row = i / count, b = row / heads, g = row % heads / (heads / K);
      y.data[i] = RoundTo(format, y.data[i] * by(b, g));
    }
  }
  return StoredTensor(NamedTensor{x.name(), format, std::move(y)});
}

// Codes, by their scales: numbers of f32 (f64 for f64), and y is rounded once more.
void AttendScaled(const Attention& op, const StoredTensors& inputs, StoredTensors& outputs) {
  const DType dtype = outputs[0].dtype(), format = dtype == DType::kF64 ? dtype : DType::kF32;
  const auto scaled = [&](size_t i, const char* scale) {
    return Scaled(inputs[i], FindInput(inputs, scale), format);
  };
  const StoredTensor q = scaled(0, "q_scale"), k = scaled(1, "k_scale"), v = scaled(2, "v_scale");
  std::optional<StoredTensor> bias;
  if (const StoredTensor* const given = FindInput(inputs, "bias"))
    bias = Scaled(*given, nullptr, format);
  StoredTensor y("y", format, outputs[0].shape());
  AttendCase(op, {q, k, v, bias ? &*bias : nullptr, FindInput(inputs, "sink"), op.add_bias}, y,
             outputs[1]);
  std::vector<double> rounded = ValuesOf(y).data;
  for (double& x : rounded) x = RoundTo(dtype, x);
  outputs[0].Write(0, rounded);
}

bool HasScales(const Case& c) {
  const auto& with = StructOf<Attention>(c).with;
  return with.Has("q_scale") || with.Has("k_scale") || with.Has("v_scale");
}

// With a scale, what is multiplied or converted may have any dtype.
std::string DeclinesUnscaledCodes(const Case& c) {
  const auto is_converted = [&c](const TensorSpec& tensor) {
    return HasScales(c) && tensor.name != "sink" && tensor.name != "y" && tensor.name != "lse";
  };
  return DeclinesTypesUnless(is_converted, c);
}

StoredTensors RunAttention(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<Attention>(c);
  StoredTensors outputs = OutputsOf(c);
  if (HasScales(c)) {
    AttendScaled(op, inputs, outputs);
  } else {
    AttendCase(op,
               {inputs[0], inputs[1], inputs[2], FindInput(inputs, "bias"),
                FindInput(inputs, "sink"), op.add_bias},
               outputs[0], outputs[1]);
  }
  return outputs;
}

}  // namespace

template <>
CaseKernel MakeKernel<Attention>() {
  return {DeclinesUnscaledCodes, RunAttention};
}

}  // namespace sextant::fast
