#include "oracle/layer/measured/norm.h"

#include <utility>

#include "oracle/diagnosis/evidence.h"
#include "oracle/layer/measured/model.h"
#include "oracle/layer/measured/norm_forms.h"
#include "oracle/layer/measured/row_statistics.h"
#include "oracle/layer/tensor_places.h"
#include "reference/layer/layer_norm.h"
#include "reference/layer/rms_norm.h"

namespace sextant::oracle {
namespace {

struct MeasuredRmsNorm : RmsNorm {
  Norm norm;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) const {
    Normalization<Real>(norm, x, weight.data, {}).Write(y);
  }
};

struct MeasuredLayerNorm : LayerNorm {
  Norm norm;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, const Tensor<Real>& bias,
                  Tensor<Real>& y) const {
    Normalization<Real>(norm, x, weight.data, bias.data).Write(y);
  }
};

template <class Measured>
Hypothesis NormModelOf(const Observation& seen, const NormFit& fit) {
  Measured measured;
  measured.norm = fit.norm;
  Hypothesis model = MeasuredModel(seen, measured);
  Tensors inputs = seen.inputs;
  inputs[kWeight].values.data = fit.weight;
  if (inputs.size() > kBias) inputs[kBias].values.data = fit.bias;
  model.inputs = std::move(inputs);
  model.is_across_slices = fit.norm.CountsRows();
  return model;
}

std::vector<NormFit> NormFitsOf(const Observation& seen) {
  const bool has_bias = seen.inputs.size() > kBias;
  const Shape& shape = seen.inputs[kX].values.shape;
  const std::vector<double> none;
  const Samples likely(seen, 0, ErrorBar::kLikely);
  // A row of one element is its sign times the weight, whatever divides it.
  if (!likely.IsAnswered() || shape[0] == 0 || shape[1] < 2) return {};
  const auto totals = std::make_shared<WholeTotals>();
  return SimplestFits([&](ErrorBar bar) {
    const Samples samples = likely.With(bar);
    return FitNorms({.N = shape[0],
                     .M = shape[1],
                     .x = seen.inputs[kX].values.data,
                     .weight = seen.inputs[kWeight].values.data,
                     .bias = has_bias ? seen.inputs[kBias].values.data : none,
                     .right = RightNorm(seen.c, shape[1], has_bias),
                     .samples = samples,
                     .totals = totals});
  });
}

std::vector<Explanation> MeasureNorm(const Observation& seen) {
  std::vector<Explanation> explanations;
  for (const NormFit& fit : NormFitsOf(seen)) {
    const bool has_bias = seen.inputs.size() > kBias;
    explanations.push_back({fit.deviations.name, fit.deviations.sentence,
                            has_bias ? NormModelOf<MeasuredLayerNorm>(seen, fit)
                                     : NormModelOf<MeasuredRmsNorm>(seen, fit)});
  }
  if (!explanations.empty()) return explanations;
  if (!seen.how.is_part) explanations = ExplainingOf(seen, NormForms(seen));
  return explanations.empty() ? MeasureRowStatistics(seen) : explanations;
}

}  // namespace

Norm RightNorm(const Case& c, size_t M, bool has_bias) {
  Norm norm{.subtracts_mean = has_bias, .sums_centered = has_bias};
  norm.columns = M;
  norm.count = norm.mean_count = static_cast<double>(M);
  if (has_bias) norm.bias = Norm::Bias::kOnce;
  for (const Attribute& attribute : c.operation().Attributes()) {
    if (attribute.name == "eps") ParseValue(attribute.text, norm.eps);
    if (attribute.name == "unit_offset") ParseValue(attribute.text, norm.unit_offset);
  }
  return norm;
}

std::vector<Measurement> NormMeasurements() { return {MeasureNorm}; }

}  // namespace sextant::oracle
