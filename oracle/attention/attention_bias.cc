#include "reference/attention/attention_bias.h"

#include "oracle/attention/attention_defects.h"
#include "oracle/attention/attention_parts.h"
#include "oracle/attention/attention_properties.h"
#include "oracle/attention/measured/attention.h"
#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"

namespace sextant::oracle {
namespace {

struct MutatedAttentionBias : AttentionBias {
  AttentionMutation mutation{};
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>& bias, Tensor<Real>& y, Tensor<Real>& lse) const {
    AttendMutated<Real>(mutation, *this,
                        {.q = q, .k = k, .v = v, .bias = &bias, .scale_bias = scale_bias}, y, lse);
  }
};

struct AttentionBiasByParts : AttentionBias {
  MeasuredParts parts;
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>& bias, Tensor<Real>& y, Tensor<Real>& lse) const {
    AttendMeasured<Real>(parts, *this,
                         {.q = q, .k = k, .v = v, .bias = &bias, .scale_bias = scale_bias}, y, lse);
  }
};

MutationsOf<MutatedAttentionBias> BiasMutations() {
  using M = AttentionMutation;
  return {
      {"bias_before_cap", "the bias is added before the soft cap instead of after it",
       M::kBiasBeforeCap},
      {"bias_subtracted", "the bias is subtracted", M::kBiasSubtracted},
      {"bias_of_first_head", "every head uses the bias of head 0", M::kBiasOfFirstHead, true},
      {"bias_of_first_query", "every query uses the bias of query 0, as BLOOM's ALiBi may",
       M::kBiasOfFirstQuery, true},
      {"bias_after_softmax", "the bias is added to the weights after the softmax",
       M::kBiasAfterSoftmax},
  };
}

// A constant bias gives the same y as a bias of 0, and shifts lse.
Comparisons CheckConstantBias(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  const bool capped = !TextOf(c, "soft_cap").empty() && TextOf(c, "scale_bias") == "true";
  if (capped) return comparisons;
  const Response a = ask(c, Filled(inputs, {"bias"}, 0)), b = ask(c, Filled(inputs, {"bias"}, 3));
  const double shift = TextOf(c, "scale_bias") == "true" ? NumberOf(c, "scale", NAN) * 3 : 3;
  const AttentionSizes n(c);
  const VisibleKeys seen(c);
  for (size_t row = 0; row < n.rows(); ++row) {
    if (seen(row).IsEmpty()) continue;
    for (size_t i = row * n.E; i < (row + 1) * n.E; ++i) {
      comparisons.Equal(a(kAttended, i), b(kAttended, i), {a, kAttended, i});
    }
    if (!a.Has(kLse) || !b.Has(kLse) || std::isnan(shift)) continue;
    comparisons.Equal(a(kLse, row) + shift, b(kLse, row), {b, kLse, row});
  }
  return comparisons;
}

std::vector<Property> BiasProperties() {
  return {{"constant_biases_do_not_count", "a constant bias does not change y and shifts lse",
           CheckConstantBias}};
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<AttentionBias>() {
  return {
      .properties = Joined<Property>({AttentionProperties(), BiasProperties()}),
      .defects = Joined<Defect>({MutatedFormulas<MutatedAttentionBias>(AttentionMutations()),
                                 MutatedFormulas<MutatedAttentionBias>(BiasMutations()),
                                 AttentionDefects(),
                                 {MissingInput("bias_missing", "the bias is not added", "bias")}}),
      .measurements = {MeasureAttention<AttentionBiasByParts>}};
}

}  // namespace sextant::oracle
