#include "reference/layer/gated_quantize.h"

#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/gated_mutations.h"
#include "oracle/layer/quantized_mutations.h"
#include "oracle/layer/quantized_properties.h"
#include "reference/case/intermediate.h"
#include "reference/prove/rounding_operation.h"

namespace sextant::oracle {
namespace {

bool IsLinearInUp(const Case& c) {
  return TextOf(c, "plus_one") == "false" && TextOf(c, "limit").empty();
}
bool HasOddUp(const Case& c) { return TextOf(c, "plus_one") == "false"; }

struct MutatedGatedQuantize : GatedQuantize {
  MutatedGated::Mutation of_gate{};
  MutatedQuantization of_codes;
  bool scale_of_gate = false;  // the scale is that of f(g), without up

  template <class Real>
  Tensor<Real> Numbers(MutatedGated::Mutation mutation, const Tensor<Real>& gate,
                       const Tensor<Real>& up) const {
    MutatedGated mutated{{*this}, mutation};
    Tensor<Real> y(gate.shape);
    mutated(gate, up, y);
    y.shape = {gate.shape[0], 1, gate.shape[1], gate.shape[2]};
    return Stored(std::move(y));
  }
  template <class Real>
  void operator()(const Tensor<Real>& gate, const Tensor<Real>& up,
                  const Tensor<Real>* tensor_scale, Tensor<Real>& scale,
                  Tensor<Real>& codes) const {
    const Tensor<Real> y = Numbers(of_gate, gate, up);
    of_codes.Apply(*this, y, tensor_scale, scale, codes);
    if (scale_of_gate)
      MutatedQuantization::DivideByScaleOf(Numbers(MutatedGated::Mutation::kNoGate, gate, up), true,
                                           *this, y, tensor_scale, scale, codes);
  }
};

using Wrapper = RoundingOperation<MutatedGatedQuantize, false>;

std::vector<Defect> DefectsOfGate() {
  return MutatedFormulas<MutatedGatedQuantize, &MutatedGatedQuantize::of_gate, Wrapper>(
      GatedMutations());
}
std::vector<Defect> DefectsOfCodes() {
  constexpr auto kMutation = [](MutatedGatedQuantize & op) -> auto& {
    return op.of_codes.mutation;
  };
  return MutatedFormulas<MutatedGatedQuantize, kMutation, Wrapper>(QuantizeMutations());
}
std::vector<Defect> OtherDefects() {
  return Joined<Defect>(
      {{ExchangedInputs(
           "gate_exchanged_with_up",
           "up is activated instead of gate, as torch's glu gates with the second half",
           {{"gate", "up"}})},
       MutatedFormulas<MutatedGatedQuantize, &MutatedGatedQuantize::scale_of_gate, Wrapper>(
           {{"scale_of_gate", "the scale is that of the activated gate, not of its product with up",
             true}})});
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<GatedQuantize>() {
  return {.properties = {WholeRange(),
                         MirroredCodes({"up"}, "-up gives the same scale and -codes", HasOddUp),
                         ScaledCodes({"up"}, "2 up gives twice the scale and the same codes",
                                     IsLinearInUp)},
          .defects = Joined<Defect>({DefectsOfCodes(), DefectsOfGate(), OtherDefects()})};
}

}  // namespace sextant::oracle
