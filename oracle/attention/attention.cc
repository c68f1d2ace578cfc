#include "reference/attention/attention.h"

#include "oracle/attention/attention_bias_and_sink.h"
#include "oracle/attention/attention_defects.h"
#include "oracle/attention/attention_properties.h"
#include "oracle/attention/measured/attention.h"
#include "oracle/diagnosis/catalog_entry.h"

namespace sextant::oracle {
namespace {

struct MutatedAttention : Attention {
  AttentionMutation mutation{};
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>* bias, const Tensor<Real>* sink, Tensor<Real>& y,
                  Tensor<Real>& lse) const {
    AttendMutated<Real>(mutation, *this,
                        {.q = q, .k = k, .v = v, .bias = bias, .sink = sink, .add_bias = add_bias},
                        y, lse);
  }
};

struct AttentionByParts : Attention {
  MeasuredParts parts;
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>* bias, const Tensor<Real>* sink, Tensor<Real>& y,
                  Tensor<Real>& lse) const {
    AttendMeasured<Real>(parts, *this,
                         {.q = q, .k = k, .v = v, .bias = bias, .sink = sink, .add_bias = add_bias},
                         y, lse);
  }
};

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Attention>() {
  return {.properties = Joined<Property>({AttentionProperties(), BiasAndSinkProperties()}),
          .defects = Joined<Defect>({MutatedFormulas<MutatedAttention>(AttentionMutations()),
                                     MutatedFormulas<MutatedAttention>(BiasAndSinkMutations()),
                                     AttentionDefects(), BiasAndSinkDefects()}),
          .measurements = {MeasureAttention<AttentionByParts>}};
}

}  // namespace sextant::oracle
