#include "reference/attention_bias.h"

#include "oracle/attention_defects.h"
#include "oracle/attention_laws.h"
#include "oracle/laws.h"
#include "oracle/oracle.h"

namespace sextant::oracle {
namespace {

struct Mistaken : AttentionBias {
  AttentionMistake mistake{};
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>& bias, Tensor<Real>& y, Tensor<Real>& lse) const {
    AttendMistaken<Real>(mistake, *this,
                         {.q = q, .k = k, .v = v, .bias = &bias, .scale_bias = scale_bias}, y, lse);
  }
};

std::vector<AttentionBug> BiasBugs() {
  using M = AttentionMistake;
  return {
      {"bias_before_cap", "the bias is capped with the score", M::kBiasBeforeCap},
      {"bias_subtracted", "the bias has the other sign", M::kBiasSubtracted},
      {"bias_of_first_head", "every head has the bias of head 0", M::kBiasOfFirstHead},
      {"bias_of_first_query", "every query has the bias of query 0, as BLOOM's ALiBi may",
       M::kBiasOfFirstQuery},
      {"bias_after_softmax", "the bias is added to the weights", M::kBiasAfterSoftmax},
  };
}

// A bias of 0 gives what a constant bias gives.
Findings CheckConstantBias(const Case& c, const Tensors& inputs, const Ask& ask) {
  Findings findings;
  const bool capped = !TextOf(c, "soft_cap").empty() && TextOf(c, "scale_bias") == "true";
  if (capped) return findings;
  Tensors none = inputs, constant = inputs;
  for (double& x : In(none, "bias").data) x = 0;
  for (double& x : In(constant, "bias").data) x = 3;
  const Response a = ask(c, none), b = ask(c, constant);
  const double shift = TextOf(c, "scale_bias") == "true" ? NumberOf(c, "scale", NAN) * 3 : 3;
  for (size_t i = 0; i < a.outputs[0].values.data.size(); ++i) {
    if (std::isfinite(a.permitted[0].error.data[i]) && std::isfinite(a.outputs[0].values.data[i]))
      findings.Equal(a(0, i), b(0, i), {a, 0, i});
  }
  if (!a.Has(1) || !b.Has(1) || std::isnan(shift)) return findings;
  for (size_t i = 0; i < a.outputs[1].values.data.size(); ++i) {
    if (std::isfinite(a.outputs[1].values.data[i]) && std::isfinite(b.outputs[1].values.data[i]) &&
        a.permitted[1].error.data[i] > 0)
      findings.Equal(a(1, i) + shift, b(1, i), {b, 1, i});
  }
  return findings;
}

std::vector<Property> BiasLaws() {
  return {{"constant_biases_do_not_count", "y does not see a constant bias; lse shows it",
           CheckConstantBias}};
}

}  // namespace

template <>
Oracle MakeOracle<AttentionBias>() {
  return {.properties = Joined<Property>({AttentionLaws(), BiasLaws()}),
          .defects = Joined<Defect>({FormulaDefects<Mistaken>(AttentionBugs()),
                                     FormulaDefects<Mistaken>(BiasBugs()),
                                     AttentionDefects(),
                                     {ChangedInputs("bias_missing", "the bias is not added",
                                                    [](const Case&, Tensors& inputs) {
                                                      for (double& x : In(inputs, "bias").data)
                                                        x = 0;
                                                      return true;
                                                    })}})};
}

}  // namespace sextant::oracle
