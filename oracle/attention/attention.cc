#include "reference/attention/attention.h"

#include "oracle/attention/attention_defects.h"
#include "oracle/attention/attention_laws.h"
#include "oracle/defect/oracle.h"

namespace sextant::oracle {
namespace {

struct Mistaken : Attention {
  AttentionMistake mistake{};
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  Tensor<Real>& y, Tensor<Real>& lse) const {
    AttendMistaken<Real>(mistake, *this, {.q = q, .k = k, .v = v}, y, lse);
  }
};

}  // namespace

template <>
Oracle MakeOracle<Attention>() {
  return {
      .properties = AttentionLaws(),
      .defects = Joined<Defect>({FormulaDefects<Mistaken>(AttentionBugs()), AttentionDefects()})};
}

}  // namespace sextant::oracle
