#include "oracle/layer/feed_forward_properties.h"

#include <algorithm>

#include "oracle/defect/input_defects.h"
#include "oracle/layer/tensor_places.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {
namespace {

// The inputs with 0 for each of these biases that exists.
Tensors WithoutBiases(Tensors inputs, Names biases) {
  for (const char* bias : biases) {
    if (HasInput(inputs, bias)) inputs = Filled(std::move(inputs), {bias}, 0);
  }
  return inputs;
}

// With down = 0, y is the last bias.
Comparisons CheckDown(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, Filled(inputs, {"down"}, 0));
  const Tensor<double>* const bias = FindValues(inputs, "down_bias");
  const size_t M = ExtentOf(c, "M");
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(kY); ++i) {
    comparisons.Equal(y(kY, i), bias ? bias->data[i % M] : 0, {y, kY, i});
  }
  return comparisons;
}

// Doubling `weight`, up or down, doubles y. It is not halved, because half of a number need not be
// a number of the dtype.
Comparisons CheckFeedForwardTwice(const Case& c, Tensors inputs, const Ask& ask,
                                  const char* weight) {
  inputs = WithoutBiases(std::move(inputs), {"up_bias", "down_bias"});
  Comparisons comparisons;
  ExpectProportional(ask(c, Multiplied(inputs, {weight}, 2)), 2, ask(c, inputs), comparisons);
  return comparisons;
}

// y is the answered hidden tensor times down.
Comparisons CheckHidden(const Case& c, Tensors inputs, const Ask& ask) {
  inputs = WithoutBiases(std::move(inputs), {"down_bias"});
  const Response y = ask(c, inputs);
  const size_t M = ExtentOf(c, "M"), F = ExtentOf(c, "F");
  Comparisons comparisons;
  if (!y.Has(kHidden)) return comparisons;
  for (size_t i = 0; i < y.size(kY); ++i) {
    Measured sum = 0;
    for (size_t f = 0; f < F; ++f) {
      sum = sum + y(kHidden, i / M * F + f) * InputNamed(inputs, "down").data[i % M * F + f];
    }
    comparisons.Equal(y(kY, i), sum, {y, kY, i});
  }
  return comparisons;
}

Comparisons CheckFeedForwardOrder(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t M = ExtentOf(c, "M");
  Tensors reversed = inputs;
  for (const char* name : {"gate", "up"}) ReverseBlocks(InputNamed(reversed, name), 1, M);
  for (const char* name : {"gate_bias", "up_bias"}) {
    if (HasInput(inputs, name)) ReverseBlocks(InputNamed(reversed, name), 1, 1);
  }
  ReverseBlocks(InputNamed(reversed, "down"), M, 1);
  return UnitsInAnyOrder(c, inputs, reversed, ask);
}

// gate and up are stored one after the other in a weight [2F,M], but read as even and odd rows.
bool ReadAsEvenAndOddRows(const Case& c, Tensors& inputs) {
  const size_t M = ExtentOf(c, "M"), F = ExtentOf(c, "F");
  std::vector<double> fused = InputNamed(inputs, "gate").data;
  fused.insert(fused.end(), InputNamed(inputs, "up").data.begin(),
               InputNamed(inputs, "up").data.end());
  for (size_t f = 0; f < F; ++f) {
    for (size_t m = 0; m < M; ++m) {
      InputNamed(inputs, "gate").data[f * M + m] = fused[2 * f * M + m];
      InputNamed(inputs, "up").data[f * M + m] = fused[(2 * f + 1) * M + m];
    }
  }
  return F > 1;
}

}  // namespace

Comparisons UnitsInAnyOrder(const Case& c, const Tensors& inputs, const Tensors& reversed,
                            const Ask& ask) {
  const auto& outputs = c.info().signature.outputs;
  const auto at = std::ranges::find(outputs, "hidden", &TensorSpec::name);
  const auto hidden = static_cast<size_t>(at - outputs.begin());
  const size_t F = ExtentOf(c, "F");
  const Response a = ask(c, inputs), b = ask(c, reversed);
  Comparisons comparisons;
  for (size_t i = 0; i < a.size(kY); ++i) {
    comparisons.Equal(a(kY, i), b(kY, i), {b, kY, i});
  }
  if (!a.Has(hidden) || !b.Has(hidden)) return comparisons;
  for (size_t i = 0; i < a.outputs[hidden].values.data.size(); ++i) {
    comparisons.Equal(a(hidden, i), b(hidden, i / F * F + (F - 1 - i % F)), {b, hidden, i});
  }
  return comparisons;
}

std::vector<Property> FeedForwardProperties() {
  const auto twice = [](const char* weight) {
    return [weight](const Case& c, const Tensors& inputs, const Ask& ask) {
      return CheckFeedForwardTwice(c, inputs, ask, weight);
    };
  };
  return {{"zero_down", "with down = 0, y is 0 or the last bias", CheckDown},
          {"linear_in_down", "doubling down doubles y", twice("down")},
          {"linear_in_up", "doubling up doubles y", twice("up")},
          {"hidden_times_down", "y is the hidden tensor times down", CheckHidden},
          {"channels_in_any_order", "the order of the hidden channels does not matter",
           CheckFeedForwardOrder}};
}

std::vector<Defect> FeedForwardDefects() {
  return {
      MissingInput("gate_bias_missing", "gate_bias is not added", "gate_bias"),
      MissingInput("up_bias_missing", "up_bias is not added", "up_bias"),
      MissingInput("down_bias_missing", "down_bias is not added", "down_bias"),
      DoubledInput("gate_bias_added_twice", "gate_bias is added by two kernels", "gate_bias"),
      DoubledInput("up_bias_added_twice", "up_bias is added by two kernels", "up_bias"),
      DoubledInput("down_bias_added_twice", "down_bias is added by two kernels", "down_bias"),
      ExchangedInputs("biases_swapped", "gate_bias and up_bias are swapped",
                      {{"gate_bias", "up_bias"}}),
      ChangedRecipe("bias_in_bf16", "biases are added in bf16 for every dtype", "bias=bf16"),
      ChangedRecipe("bias_in_f16", "biases are added in f16 for every dtype", "bias=f16"),
      ExchangedInputs("gate_exchanged_with_up", "up is activated instead of gate (F.glu's order)",
                      {{"gate", "up"}}),
      ChangedInputs(
          "fused_rows_as_neighbours",
          "gate and up, one after the other in a fused weight, are read as even and odd rows",
          ReadAsEvenAndOddRows),
      TransposedInput("down_transposed", "down is read as [F,M]", "down"),
      TransposedInput("gate_transposed", "gate is read as [M,F]", "gate"),
      TransposedInput("up_transposed", "up is read as [M,F]", "up"),
      ChangedRecipe("dot_in_bf16", "dot products are accumulated in bf16", "dot=bf16"),
      ChangedRecipe("dot_in_f16", "dot products are accumulated in f16", "dot=f16"),
      ChangedRecipe("hidden_in_bf16", "intermediates are stored in bf16 for every dtype",
                    "keep=bf16"),
      ChangedRecipe("hidden_in_f16", "intermediates are stored in f16 for every dtype", "keep=f16"),
      ChangedRecipe("activation_in_bf16", "the activation is computed in bf16 for every dtype",
                    "activation=bf16"),
  };
}

}  // namespace sextant::oracle
