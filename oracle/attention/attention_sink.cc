#include "reference/attention/attention_sink.h"

#include <numbers>

#include "oracle/attention/attention_defects.h"
#include "oracle/attention/attention_parts.h"
#include "oracle/attention/attention_properties.h"
#include "oracle/attention/measured/attention.h"
#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"

namespace sextant::oracle {
namespace {

struct MutatedAttentionSink : AttentionSink {
  AttentionMutation mutation{};
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>& sink, Tensor<Real>& y, Tensor<Real>& lse) const {
    AttendMutated<Real>(mutation, *this, {.q = q, .k = k, .v = v, .sink = &sink}, y, lse);
  }
};

struct AttentionSinkByParts : AttentionSink {
  MeasuredParts parts;
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>& sink, Tensor<Real>& y, Tensor<Real>& lse) const {
    AttendMeasured<Real>(parts, *this, {.q = q, .k = k, .v = v, .sink = &sink}, y, lse);
  }
};

MutationsOf<MutatedAttentionSink> SinkMutations() {
  using M = AttentionMutation;
  return {
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

// A sink far below all scores takes no weight; one far above takes all.
Comparisons CheckFar(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  const Tensors ones = Filled(inputs, {"v"}, 1);
  const VisibleKeys seen(c);
  const size_t E = ExtentOf(c, "E");
  for (const double far : {-1e6, 1e6}) {
    const Response y = ask(c, Filled(ones, {"sink"}, far));
    for (size_t i = 0; i < y.size(kAttended); ++i) {
      if (seen(i / E).IsEmpty()) continue;
      comparisons.Equal(y(kAttended, i), far < 0 ? 1 : 0, {y, kAttended, i});
    }
  }
  return comparisons;
}

// lse does not depend on the sink.
Comparisons CheckLse(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  const Response a = ask(c, inputs), b = ask(c, Filled(inputs, {"sink"}, 2));
  if (!a.Has(kLse) || !b.Has(kLse)) return comparisons;
  const VisibleKeys seen(c);
  for (size_t row = 0; row < a.size(kLse); ++row) {
    if (!seen(row).IsEmpty()) comparisons.Equal(a(kLse, row), b(kLse, row), {b, kLse, row});
  }
  return comparisons;
}

std::vector<Property> SinkProperties() {
  return {{"far_sinks_take_nothing_or_all",
           "a very small sink takes no weight, a very large one takes all", CheckFar},
          {"lse_is_without_sink", "lse does not depend on the sink", CheckLse}};
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<AttentionSink>() {
  return {.properties = Joined<Property>({AttentionPropertiesWithSink(), SinkProperties()}),
          .defects = Joined<Defect>(
              {MutatedFormulas<MutatedAttentionSink>(AttentionMutations()),
               MutatedFormulas<MutatedAttentionSink>(SinkMutations()),
               AttentionDefects(),
               {FilledInput("sink_missing", "the sink is not read (InternLM/lmdeploy#2842)", "sink",
                            -1e6),
                ShiftedInput("sink_doubled",
                             "e^sink is added twice, once for each of two parts of the keys",
                             "sink", std::numbers::ln2),
                MissingInput("sink_of_zero", "1 is added to the sum instead of e^sink", "sink")}}),
          .measurements = {MeasureAttention<AttentionSinkByParts>}};
}

}  // namespace sextant::oracle
