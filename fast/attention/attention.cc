#include "reference/attention/attention.h"

#include "fast/attention/attend_rows.h"
#include "fast/kernel/kernel.h"

namespace sextant::fast {
namespace {

// x[B,heads,rows,width] by scale[B,K], rounded to the format in which the kernel computes.
Tensor<double> Scaled(const Tensor<double>& x, const Tensor<double>* scale, DType format) {
  Tensor<double> y = x;
  if (!scale) return y;
  const size_t heads = x.shape[1], K = scale->shape[1], count = x.shape[2] * x.shape[3];
  for (size_t i = 0; i < y.data.size(); ++i) {
    const size_t row = i / count, b = row / heads, g = row % heads / (heads / K);
    y.data[i] = RoundTo(format, x.data[i] * (*scale)(b, g));
  }
  return y;
}

// Codes, by their scales: numbers of f32 (f64 for f64), and y is rounded once more.
Tensors AttendScaled(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<Attention>(c);
  const DType format = c.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  const auto scaled = [&](size_t i, const char* scale) {
    return Scaled(inputs[i].values, FindValues(inputs, scale), format);
  };
  Tensors outputs =
      AttendCase(op, format, scaled(0, "q_scale"), scaled(1, "k_scale"), scaled(2, "v_scale"),
                 {.bias = FindValues(inputs, "bias"),
                  .sink = FindValues(inputs, "sink"),
                  .add_bias = op.add_bias});
  outputs[0].dtype = c.dtype();
  for (double& y : outputs[0].values.data) y = RoundTo(c.dtype(), y);
  return outputs;
}

bool HasScales(const Case& c) {
  const auto& with = StructOf<Attention>(c).with;
  return with.Has("q_scale") || with.Has("k_scale") || with.Has("v_scale");
}

std::string DeclinesUnscaledCodes(const Case& c) {
  return HasScales(c) ? "" : DeclinesMixedTypes(c);
}

Tensors RunAttention(const Case& c, const Tensors& inputs) {
  if (HasScales(c)) return AttendScaled(c, inputs);
  const auto op = StructOf<Attention>(c);
  return AttendCase(op, c.dtype(), inputs[0].values, inputs[1].values, inputs[2].values,
                    {.bias = FindValues(inputs, "bias"),
                     .sink = FindValues(inputs, "sink"),
                     .add_bias = op.add_bias});
}

}  // namespace

template <>
CaseKernel MakeKernel<Attention>() {
  return {DeclinesUnscaledCodes, RunAttention};
}

}  // namespace sextant::fast
