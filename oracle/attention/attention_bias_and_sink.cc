#include "oracle/attention/attention_bias_and_sink.h"

#include <cmath>
#include <numbers>

#include "oracle/attention/attention_parts.h"
#include "oracle/attention/attention_properties.h"
#include "oracle/defect/input_defects.h"

namespace sextant::oracle {
namespace {

// A constant bias gives the same y as a bias of 0, and shifts lse. Not with a sink, which it does
// not shift, or under a cap.
Comparisons CheckConstantBias(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  const std::string add_bias = TextOf(c, "add_bias");
  const bool capped = IsSet(c, "soft_cap") && !add_bias.empty();
  if (capped || !HasInput(inputs, "bias") || HasInput(inputs, "sink")) return comparisons;
  const Response a = ask(c, Filled(inputs, {"bias"}, 0)), b = ask(c, Filled(inputs, {"bias"}, 3));
  const double shift = add_bias == "before_scale" ? NumberOf(c, "scale", NAN) * 3 : 3;
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

// A sink far below all scores takes no weight; one far above takes all.
Comparisons CheckFar(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  if (!HasInput(inputs, "sink")) return comparisons;
  const Tensors ones = Filled(inputs, {"v"}, 1);
  const VisibleKeys seen(c);
  const size_t E = ExtentOf(c, "E");
  for (const double far : {-1e6, 1e6}) {
    const Response y = ask(c, Filled(ones, {"sink"}, far));
    for (size_t i = 0; i < y.size(kAttended); ++i) {
      const bool takes_all = far > 0 || seen(i / E).IsEmpty();
      comparisons.Equal(y(kAttended, i), takes_all ? 0 : 1, {y, kAttended, i});
    }
  }
  return comparisons;
}

// lse does not depend on the sink.
Comparisons CheckLse(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  if (!HasInput(inputs, "sink")) return comparisons;
  const Response a = ask(c, inputs), b = ask(c, Filled(inputs, {"sink"}, 2));
  if (!a.Has(kLse) || !b.Has(kLse)) return comparisons;
  const VisibleKeys seen(c);
  for (size_t row = 0; row < a.size(kLse); ++row) {
    if (!seen(row).IsEmpty()) comparisons.Equal(a(kLse, row), b(kLse, row), {b, kLse, row});
  }
  return comparisons;
}

}  // namespace

std::vector<Property> BiasAndSinkProperties() {
  return {{"constant_biases_do_not_count", "a constant bias does not change y and shifts lse",
           CheckConstantBias},
          {"far_sinks_take_nothing_or_all",
           "a very small sink takes no weight, a very large one takes all", CheckFar},
          {"lse_is_without_sink", "lse does not depend on the sink", CheckLse}};
}

std::vector<NamedMutation<AttentionMutation>> BiasAndSinkMutations() {
  using M = AttentionMutation;
  return {
      {"bias_subtracted", "the bias is subtracted", M::kBiasSubtracted},
      {"bias_of_first_head", "every head uses the bias of head 0", M::kBiasOfFirstHead, true},
      {"bias_of_first_query", "every query uses the bias of query 0, as BLOOM's ALiBi may",
       M::kBiasOfFirstQuery, true},
      {"bias_after_softmax", "the bias is added to the weights after the softmax",
       M::kBiasAfterSoftmax},
      {"lse_of_sink", "lse includes the sink", M::kLseOfSink},
      {"sink_scaled", "the sink is multiplied by the scale, like the scores", M::kSinkScaled},
      {"sink_of_first_head", "every head has the sink of head 0", M::kSinkOfFirstHead, true},
      {"sink_of_key_head", "every head has the sink with the index of its key head",
       M::kSinkOfKeyHead, true},
      {"sink_twice",
       "y is multiplied by sigmoid(lse - sink) after a softmax that includes the sink "
       "(pytorch/torchtitan#2211)",
       M::kSinkTwice},
      {"sink_subtracted", "the sink has the wrong sign", M::kSinkSubtracted},
  };
}

std::vector<Defect> BiasAndSinkDefects() {
  return {
      MissingInput("bias_missing", "the bias is not added", "bias"),
      FilledInput("sink_missing", "the sink is not read (InternLM/lmdeploy#2842)", "sink", -1e6),
      ShiftedInput("sink_doubled", "e^sink is added twice, once for each of two parts of the keys",
                   "sink", std::numbers::ln2),
      MissingInput("sink_of_zero", "1 is added to the sum instead of e^sink", "sink"),
  };
}

}  // namespace sextant::oracle
