// Defects of inputs that are codes in blocks, and of their scales [rows of blocks, blocks in a
// row].
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "oracle/defect/input_defects.h"
#include "oracle/layer/exchanged_pairs.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {

inline NamedTensor* FindInput(Tensors& inputs, const std::string& name) {
  const auto at = std::ranges::find(inputs, name, &NamedTensor::name);
  return at == inputs.end() ? nullptr : &*at;
}

// The numbers of an input, each another number of its type.
inline Defect ChangedNumbers(std::string name, std::string why, std::string input,
                             double (*change)(DType type, double x)) {
  return ChangedInputs(std::move(name), std::move(why),
                       [input = std::move(input), change](const Case&, Tensors& inputs) {
                         NamedTensor* const tensor = FindInput(inputs, input);
                         if (!tensor) return false;
                         for (double& x : tensor->values.data)
                           x = RoundTo(tensor->dtype, change(tensor->dtype, x));
                         return true;
                       });
}

// A block has the scale of another one of its row: of block from(g, G).
inline Defect ScalesOfOtherBlocks(std::string name, std::string why, std::string input,
                                  size_t (*from)(size_t g, size_t G)) {
  return AcrossSlices(ChangedInputs(std::move(name), std::move(why),
                                    [input = std::move(input), from](const Case&, Tensors& inputs) {
                                      NamedTensor* const tensor = FindInput(inputs, input);
                                      if (!tensor) return false;
                                      Tensor<double>& scale = tensor->values;
                                      const Tensor<double> right = scale;
                                      const size_t G = scale.shape[1];
                                      for (size_t i = 0; i < scale.data.size(); ++i)
                                        scale.data[i] = right.data[i / G * G + from(i % G, G)];
                                      return scale.data != right.data;
                                    }));
}

// The codes 0 and 1, 2 and 3 ... of a row are exchanged.
inline Defect PairsExchanged(std::string input) {
  return ChangedInputs("pairs_exchanged",
                       "two neighbouring codes are exchanged (the nibbles of a byte)",
                       [input = std::move(input)](const Case&, Tensors& inputs) {
                         Tensor<double>& codes = InputNamed(inputs, input);
                         const Tensor<double> right = codes;
                         ExchangePairs(codes);
                         return codes.data != right.data;
                       });
}

// A row of blocks has the scales of the next one.
inline void RotateRows(Tensor<double>& scale) {
  if (scale.data.empty()) return;
  std::ranges::rotate(scale.data, scale.data.begin() + static_cast<ptrdiff_t>(scale.shape[1]));
}

inline double WithoutSign(DType, double code) { return std::abs(code); }
inline double Halved(DType, double code) { return code / 2; }
inline double Inverted(DType, double x) { return 1 / x; }
inline double Squared(DType, double x) { return x * x; }
inline size_t NextBlock(size_t g, size_t G) { return (g + 1) % G; }
inline size_t FirstBlock(size_t, size_t) { return 0; }

}  // namespace sextant::oracle
