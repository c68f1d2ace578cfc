#include "reference/layer/dequantize.h"

#include <cmath>

#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/exchanged_pairs.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {
namespace {

// With scales of 1 y are the codes, rounded to its type.
Comparisons CheckScaleOne(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors ones = Filled(inputs, {"scale"}, 1);
  if (HasInput(inputs, "tensor_scale")) ones = Filled(ones, {"tensor_scale"}, 1);
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
  for (double& code : mirrored[0].values.data)
    if (IsRepresentable(mirrored[0].dtype, 0 - code)) code = 0 - code;
  const Response y = ask(c, inputs), other = ask(c, mirrored);
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(0); ++i)
    if (mirrored[0].values.data[i] == -inputs[0].values.data[i])
      comparisons.Equal(y(0, i) * -1, other(0, i), {other, 0, i});
  return comparisons;
}

// The scales of another block: of block from(n, g) of [N,G].
Defect OtherScales(std::string name, std::string why, size_t (*from)(size_t g, size_t G)) {
  return AcrossSlices(
      ChangedInputs(std::move(name), std::move(why), [from](const Case&, Tensors& inputs) {
        Tensor<double>& scale = inputs[1].values;
        const Tensor<double> right = scale;
        const size_t G = scale.shape[1];
        for (size_t i = 0; i < scale.data.size(); ++i)
          scale.data[i] = right.data[i / G * G + from(i % G, G)];
        return scale.data != right.data;
      }));
}

Defect ChangedScale(std::string name, std::string why, double (*change)(double)) {
  return ChangedInputs(std::move(name), std::move(why), [change](const Case&, Tensors& inputs) {
    for (double& s : inputs[1].values.data) s = RoundTo(inputs[1].dtype, change(s));
    return true;
  });
}

// The codes are read as other numbers of their type.
Defect ChangedCodes(std::string name, std::string why, double (*change)(DType type, double code)) {
  return ChangedInputs(std::move(name), std::move(why), [change](const Case&, Tensors& inputs) {
    for (double& code : inputs[0].values.data) code = change(inputs[0].dtype, code);
    return true;
  });
}

// The codes 0 and 1, 2 and 3 ... of a row are exchanged.
Defect PairsExchanged() {
  return ChangedInputs("pairs_exchanged",
                       "two neighbouring codes are exchanged (the nibbles of a byte)",
                       [](const Case&, Tensors& inputs) {
                         Tensor<double>& codes = inputs[0].values;
                         const Tensor<double> right = codes;
                         ExchangePairs(codes);
                         return codes.data != right.data;
                       });
}

std::vector<Defect> DequantizeDefects() {
  return {
      FilledInput("scale_ignored", "y are the codes", "scale", 1),
      FilledInput("tensor_scale_ignored", "the scale of the tensor counts as 1", "tensor_scale", 1),
      ChangedScale("scale_inverted", "the codes are divided by the scale",
                   [](double s) { return 1 / s; }),
      ChangedScale("scaled_twice", "the codes are multiplied by the scale twice",
                   [](double s) { return s * s; }),
      ChangedScale("scale_doubled", "the scale counts twice (an exponent off by one)",
                   [](double s) { return 2 * s; }),
      ChangedScale("smallest_scale_lost", "the scale 2^-127 is 0 (vllm-project/vllm#46676)",
                   [](double s) { return s == 0x1p-127 ? 0 : s; }),
      ChangedScale("scale_in_bf16", "the scale is read in bf16",
                   [](double s) { return RoundTo(DType::kBF16, s); }),
      OtherScales("scale_of_next_block", "a block has the scale of the next one",
                  [](size_t g, size_t G) { return (g + 1) % G; }),
      OtherScales("scale_of_first_block", "all blocks of a row have the scale of the first",
                  [](size_t, size_t) { return size_t{0}; }),
      PairsExchanged(),
      ChangedCodes("sign_lost", "the sign of the codes is not read",
                   [](DType, double code) { return std::abs(code); }),
      ChangedCodes("subnormals_flushed", "subnormal codes are 0",
                   [](DType type, double code) {
                     const double least = PowerOfTwo(GridOf(type).min_exponent);
                     return std::abs(code) < least ? RoundTo(type, 0 * code) : code;
                   }),
      ChangedCodes("other_bias",
                   "the exponents of the codes are read off by one (fn for fnuz, or back)",
                   [](DType type, double code) { return RoundTo(type, code / 2); }),
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
