#include "reference/layer/dequantize.h"

#include <cmath>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/code_defects.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {
namespace {

// With scales of 1 y are the codes, rounded to its type.
Comparisons CheckScaleOne(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors ones = Filled(inputs, {"scale"}, 1);
  if (HasInput(inputs, "tensor_scale")) ones = Filled(ones, {"tensor_scale"}, 1);
  if (HasInput(inputs, "zero")) ones = Filled(ones, {"zero"}, 0);
  const Response y = ask(c, ones);
  return EachEqual(y, [&](size_t i) -> Measured { return inputs[0].values.data[i]; });
}

// Twice the scale gives twice y.
Comparisons CheckScaleTwice(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  ExpectProportional(ask(c, Multiplied(inputs, {"scale"}, 2)), 2, ask(c, inputs), comparisons);
  return comparisons;
}

// The codes with the other sign give -y. An integer type has no -0, and one number without it.
Comparisons CheckOddCodes(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors mirrored = inputs;
  if (HasInput(inputs, "zero"))
    InputNamed(mirrored, "zero") = Times(InputNamed(inputs, "zero"), -1);
  for (double& code : mirrored[0].values.data)
    if (IsRepresentable(mirrored[0].dtype, 0 - code)) code = 0 - code;
  const Response y = ask(c, inputs), other = ask(c, mirrored);
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(0); ++i)
    if (mirrored[0].values.data[i] == -inputs[0].values.data[i])
      comparisons.Equal(y(0, i) * -1, other(0, i), {other, 0, i});
  return comparisons;
}

std::vector<Defect> DequantizeDefects() {
  return {
      FilledInput("scale_ignored", "y are the codes", "scale", 1),
      FilledInput("tensor_scale_ignored", "the scale of the tensor counts as 1", "tensor_scale", 1),
      ChangedNumbers("scale_inverted", "the codes are divided by the scale", "scale", Inverted),
      ChangedNumbers("scaled_twice", "the codes are multiplied by the scale twice", "scale",
                     Squared),
      ChangedNumbers("scale_doubled", "the scale counts twice (an exponent off by one)", "scale",
                     [](DType, double s) { return 2 * s; }),
      ChangedNumbers("smallest_scale_lost", "the scale 2^-127 is 0 (vllm-project/vllm#46676)",
                     "scale", [](DType, double s) { return s == 0x1p-127 ? 0 : s; }),
      ChangedNumbers("scale_in_bf16", "the scale is read in bf16", "scale",
                     [](DType, double s) { return RoundTo(DType::kBF16, s); }),
      ScalesOfOtherBlocks("scale_of_next_block", "a block has the scale of the next one", "scale",
                          NextBlock),
      ScalesOfOtherBlocks("scale_of_first_block", "all blocks of a row have the scale of the first",
                          "scale", FirstBlock),
      MissingInput("zero_missing", "codes count from 0", "zero"),
      ShiftedInput("zero_off_by_one", "the zero point is 1 too small, as GPTQ once stored it",
                   "zero", -1),
      ChangedInput("zero_added", "the zero point is added", "zero",
                   [](Tensor<double>& zero) { zero = Times(zero, -1); }),
      ScalesOfOtherBlocks("zero_of_next_block", "a block has the zero point of the next one",
                          "zero", NextBlock),
      PairsExchanged("codes"),
      ChangedNumbers("sign_lost", "the sign of the codes is not read", "codes", WithoutSign),
      ChangedNumbers("subnormals_flushed", "subnormal codes are 0", "codes",
                     [](DType type, double code) {
                       const double least = PowerOfTwo(GridOf(type).min_exponent);
                       return std::abs(code) < least ? 0 * code : code;
                     }),
      ChangedNumbers("other_bias",
                     "the exponents of the codes are read off by one (fn for fnuz, or back)",
                     "codes", Halved),
      ChangedNumbers(
          "nan_is_a_number", "the code of NaN is read as a number (tile-ai/tilelang#2702)", "codes",
          [](DType type, double code) { return std::isnan(code) ? MaxFinite(type) : code; }),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Dequantize>() {
  return {.properties = {{"scale_one", "with scale 1 y are the codes", CheckScaleOne},
                         {"proportional", "twice the scale gives twice y", CheckScaleTwice},
                         {"odd", "the codes with the other sign give -y", CheckOddCodes}},
          .defects = DequantizeDefects()};
}

}  // namespace sextant::oracle
