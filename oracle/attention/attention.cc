#include "reference/attention/attention.h"

#include <algorithm>
#include <cmath>

#include "oracle/attention/attention_bias_and_sink.h"
#include "oracle/attention/attention_defects.h"
#include "oracle/attention/attention_parts.h"
#include "oracle/attention/attention_properties.h"
#include "oracle/attention/measured/attention.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/code_defects.h"

namespace sextant::oracle {
namespace {

struct MutatedAttention : Attention {
  AttentionMutation mutation{};
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>* bias, const Tensor<Real>* sink, const Tensor<Real>* q_scale,
                  const Tensor<Real>* k_scale, const Tensor<Real>* v_scale, Tensor<Real>& y,
                  Tensor<Real>& lse) const {
    const ScaledOperands<Real> of(*this, q, k, v, q_scale, k_scale, v_scale);
    AttendMutated<Real>(
        mutation, *this,
        {.q = of.q(), .k = of.k(), .v = of.v(), .bias = bias, .sink = sink, .add_bias = add_bias},
        y, lse);
  }
};

struct AttentionByParts : Attention {
  MeasuredParts parts;
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>* bias, const Tensor<Real>* sink, const Tensor<Real>* q_scale,
                  const Tensor<Real>* k_scale, const Tensor<Real>* v_scale, Tensor<Real>& y,
                  Tensor<Real>& lse) const {
    const ScaledOperands<Real> of(*this, q, k, v, q_scale, k_scale, v_scale);
    AttendMeasured<Real>(
        parts, *this,
        {.q = of.q(), .k = of.k(), .v = of.v(), .bias = bias, .sink = sink, .add_bias = add_bias},
        y, lse);
  }
};

// The properties, of inputs whose scales are 1.
std::vector<Property> WithScalesOfOne(std::vector<Property> properties) {
  for (Property& property : properties) {
    property.check = [check = property.check](const Case& c, const Tensors& inputs,
                                              const Ask& ask) {
      Tensors ones = inputs;
      for (const char* name : {"q_scale", "k_scale", "v_scale"})
        if (HasInput(inputs, name)) ones = Filled(ones, {name}, 1);
      return check(c, ones, ask);
    };
  }
  return properties;
}

// Twice k_scale and half of k give the same; twice v_scale gives twice y.
Comparisons CheckScales(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  if (!HasInput(inputs, "v_scale")) return comparisons;
  const Response a = ask(c, inputs), b = ask(c, Multiplied(inputs, {"v_scale"}, 2));
  const VisibleKeys seen(c);
  const size_t E = ExtentOf(c, "E");
  for (size_t i = 0; i < a.size(kAttended); ++i)
    if (!seen(i / E).IsEmpty())
      comparisons.Equal(a(kAttended, i) * 2, b(kAttended, i), {b, kAttended, i});
  const Tensors smaller = Multiplied(inputs, {"k"}, 0.5);
  const bool is_exact = std::ranges::equal(
      InputNamed(smaller, "k").data, InputNamed(inputs, "k").data, [&](double half, double x) {
        return std::isnan(x) || RoundTo(c.DTypeOf(*FindTensor(c.signature(), "k")), half) * 2 == x;
      });
  if (is_exact) ExpectEqualVisible(c, a, ask(c, Multiplied(smaller, {"k_scale"}, 2)), comparisons);
  return comparisons;
}

std::vector<Defect> ScaleDefects() {
  std::vector<Defect> defects;
  for (const char* name : {"q_scale", "k_scale", "v_scale"}) {
    const std::string scale = name;
    defects.push_back(FilledInput(scale + "_ignored", scale + " counts as 1", scale, 1));
    defects.push_back(ChangedNumbers(scale + "_inverted", "divided by " + scale, scale, Inverted));
    defects.push_back(ScalesOfOtherBlocks(scale + "_of_next_head",
                                          "a head has " + scale + " of the next key head", scale,
                                          NextBlock));
    defects.push_back(AcrossSlices(ChangedInput(
        scale + "_of_next_batch", "a batch has " + scale + " of the next one", scale, RotateRows)));
  }
  defects.push_back(ExchangedInputs("scales_exchanged", "k_scale and v_scale are exchanged",
                                    {{"k_scale", "v_scale"}}));
  return defects;
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Attention>() {
  std::vector<Property> properties =
      WithScalesOfOne(Joined<Property>({AttentionProperties(), BiasAndSinkProperties()}));
  properties.push_back(
      {"scales_multiply", "twice k_scale is half of k; twice v_scale is twice y", CheckScales});
  return {.properties = std::move(properties),
          .defects = Joined<Defect>({MutatedFormulas<MutatedAttention>(AttentionMutations()),
                                     MutatedFormulas<MutatedAttention>(BiasAndSinkMutations()),
                                     AttentionDefects(), BiasAndSinkDefects(), ScaleDefects()}),
          .measurements = {MeasureAttention<AttentionByParts>}};
}

}  // namespace sextant::oracle
