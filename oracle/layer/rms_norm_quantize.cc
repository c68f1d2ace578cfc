#include "reference/layer/rms_norm_quantize.h"

#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/norm_defects.h"
#include "oracle/layer/quantized_mutations.h"
#include "oracle/layer/quantized_properties.h"
#include "reference/case/intermediate.h"
#include "reference/prove/rounding_operation.h"

namespace sextant::oracle {
namespace {

bool HasNoUnitOffset(const Case& c) { return TextOf(c, "unit_offset") == "false"; }

struct MutatedRmsNormQuantize : RmsNormQuantize {
  MutatedRmsNorm::Mutation of_norm{};
  MutatedQuantization of_codes;
  bool scale_without_weight = false;  // the scale is that of the norm before the weight

  template <class Real>
  Tensor<Real> Numbers(const Tensor<Real>& rows, const Tensor<Real>& weight,
                       const Tensor<Real>& codes) const {
    MutatedRmsNorm norm;
    static_cast<RmsNorm&>(norm) = *this;
    norm.mutation = of_norm;
    Tensor<Real> y(rows.shape), factors = weight;
    factors.shape = {weight.data.size()};
    norm(rows, factors, y);
    y.shape = {codes.shape[0], 1, codes.shape[1], codes.shape[2]};
    return Stored(std::move(y));
  }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, const Tensor<Real>* residual,
                  const Tensor<Real>* tensor_scale, Tensor<Real>& scale,
                  Tensor<Real>& codes) const {
    const Tensor<Real> rows = RowsOf(x, residual), y = Numbers(rows, weight, codes);
    of_codes.Apply(*this, y, tensor_scale, scale, codes);
    if (!scale_without_weight) return;
    const Tensor<Real> ones(weight.shape,
                            std::vector<Real>(weight.data.size(), Real(unit_offset ? 0.0 : 1.0)));
    MutatedQuantization::DivideByScaleOf(Numbers(rows, ones, codes), true, *this, y, tensor_scale,
                                         scale, codes);
  }
};

using Wrapper = RoundingOperation<MutatedRmsNormQuantize, false>;

std::vector<Defect> DefectsOfNorm() {
  return MutatedFormulas<MutatedRmsNormQuantize, &MutatedRmsNormQuantize::of_norm, Wrapper>(
      RmsMutations());
}
std::vector<Defect> DefectsOfCodes() {
  constexpr auto kMutation = [](MutatedRmsNormQuantize & op) -> auto& {
    return op.of_codes.mutation;
  };
  auto mutations = QuantizeMutations();
  // No y is exactly at a tie: a root errs.
  std::erase_if(mutations, [](const auto& named) {
    return named.mutation == MutatedQuantization::Mutation::kHalfUp;
  });
  return MutatedFormulas<MutatedRmsNormQuantize, kMutation, Wrapper>(mutations);
}
std::vector<Defect> OtherDefects() {
  return Joined<Defect>(
      {MutatedFormulas<MutatedRmsNormQuantize, &MutatedRmsNormQuantize::scale_without_weight,
                       Wrapper>(
           {{"scale_without_weight", "the scale is that of the row before it is weighted", true}}),
       {MissingInput("residual_missing", "the residual is not added", "residual"),
        DoubledInput("residual_added_twice",
                     "the residual is added before the kernel and again in it", "residual"),
        ChangedInputs("weight_ignored", "1 is used instead of the weight", {"weight"},
                      [](const Case& c, Tensors& inputs) {
                        std::ranges::fill(InputNamed(inputs, "weight").data,
                                          HasNoUnitOffset(c) ? 1 : 0);
                        return true;
                      })}});
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RmsNormQuantize>() {
  return {.properties = {WholeRange(),
                         MirroredCodes({"x", "residual"},
                                       "-x and -residual give the same scale and -codes"),
                         ScaledCodes({"weight"},
                                     "twice the weight gives twice the scale and the same codes",
                                     HasNoUnitOffset)},
          .defects =
              Joined<Defect>({DefectsOfCodes(), NormDefects(), DefectsOfNorm(), OtherDefects()})};
}

}  // namespace sextant::oracle
