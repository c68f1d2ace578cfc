#include "reference/attention/attention.h"

#include "oracle/attention/attention_defects.h"
#include "oracle/attention/attention_properties.h"
#include "oracle/attention/measured/attention.h"
#include "oracle/diagnosis/catalog_entry.h"

namespace sextant::oracle {
namespace {

struct Mutant : Attention {
  AttentionMutation mutation{};
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  Tensor<Real>& y, Tensor<Real>& lse) const {
    AttendMutant<Real>(mutation, *this, {.q = q, .k = k, .v = v}, y, lse);
  }
};

struct ByParts : Attention {
  MeasuredParts parts;
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  Tensor<Real>& y, Tensor<Real>& lse) const {
    AttendMeasured<Real>(parts, *this, {.q = q, .k = k, .v = v}, y, lse);
  }
};

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Attention>() {
  return {.properties = AttentionProperties(),
          .defects =
              Joined<Defect>({MutatedFormulas<Mutant>(AttentionMutations()), AttentionDefects()}),
          .measurements = {MeasureAttention<ByParts>}};
}

}  // namespace sextant::oracle
