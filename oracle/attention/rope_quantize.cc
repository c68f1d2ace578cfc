#include "reference/attention/rope_quantize.h"

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/quantized_mutations.h"
#include "oracle/layer/quantized_properties.h"
#include "oracle/rope/angle_defects.h"
#include "oracle/rope/rotary_defects.h"
#include "reference/case/intermediate.h"
#include "reference/prove/rounding_operation.h"

namespace sextant::oracle {
namespace {

struct MutatedRopeQuantize : RopeQuantize {
  RotaryMutation mutation;
  MutatedQuantization of_codes;
  bool scale_of_x = false;  // the scale is that of x before it is rotated

  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position,
                  const Tensor<Real>* tensor_scale, Tensor<Real>& scale,
                  Tensor<Real>& codes) const {
    Mutated<Rope> rope;
    static_cast<RopeAttributes&>(rope) = *this;
    rope.mutation = mutation;
    Tensor<Real> y(x.shape), before = x;
    rope(x, position, y);
    before.shape = y.shape = {CountOf(scale.shape), 1, 1, x.shape[3]};
    y = Stored(std::move(y));
    of_codes.Apply(*this, y, tensor_scale, scale, codes);
    if (scale_of_x)
      MutatedQuantization::DivideByScaleOf(before, true, *this, y, tensor_scale, scale, codes);
  }
};

using Wrapper = RoundingOperation<MutatedRopeQuantize, false>;

std::vector<Defect> DefectsOfCodes() {
  constexpr auto kMutation = [](MutatedRopeQuantize & op) -> auto& { return op.of_codes.mutation; };
  auto mutations = QuantizeMutations();
  // A row has one block.
  std::erase_if(mutations, [](const auto& named) {
    return named.mutation == MutatedQuantization::Mutation::kOfRow ||
           named.mutation == MutatedQuantization::Mutation::kNeighbour;
  });
  return Joined<Defect>(
      {MutatedFormulas<MutatedRopeQuantize, kMutation, Wrapper>(mutations),
       MutatedFormulas<MutatedRopeQuantize, &MutatedRopeQuantize::scale_of_x, Wrapper>(
           {{"scale_before_rotation", "the scale is that of x before it is rotated", true}})});
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RopeQuantize>() {
  return {.properties = {WholeRange(), MirroredCodes({"x"}, "-x gives the same scale and -codes"),
                         ScaledCodes({"x"}, "2 x gives twice the scale and the same codes")},
          .defects =
              Joined<Defect>({DefectsOfCodes(), PositionDefects(),
                              MutationDefects<MutatedRopeQuantize, Wrapper>(RotationMutations())})};
}

}  // namespace sextant::oracle
