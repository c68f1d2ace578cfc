#include "oracle/layer/feed_forward_properties.h"

#include <algorithm>

#include "oracle/defect/input_defects.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {
namespace {

constexpr size_t kY = 0, kHidden = 1;

bool HasBias(const Tensors& inputs) { return HasInput(inputs, "down_bias"); }

// Without the last layer's weight its bias is left.
Findings CheckDown(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, Filled(inputs, {"down"}, 0));
  const size_t M = ExtentOf(c, "M");
  Findings findings;
  for (size_t i = 0; i < y.outputs[kY].values.data.size(); ++i) {
    const double expected = HasBias(inputs) ? In(inputs, "down_bias").data[i % M] : 0;
    findings.Equal(y(kY, i), expected, {y, kY, i});
  }
  return findings;
}

// The second half counts in proportion, and so does the last layer. Half of a number need not be
// one of the dtype.
Findings CheckTwice(const Case& c, Tensors inputs, const Ask& ask, const char* weight) {
  if (HasBias(inputs)) inputs = Filled(inputs, {"up_bias", "down_bias"}, 0);
  Findings findings;
  Proportional(ask(c, Multiplied(inputs, {weight}, 2)), 2, ask(c, inputs), findings);
  return findings;
}

// y is the hidden tensor, as answered, times the last weight.
Findings CheckHidden(const Case& c, Tensors inputs, const Ask& ask) {
  if (HasBias(inputs)) inputs = Filled(inputs, {"down_bias"}, 0);
  const Response y = ask(c, inputs);
  const size_t M = ExtentOf(c, "M"), F = ExtentOf(c, "F");
  Findings findings;
  if (!y.Has(kHidden)) return findings;
  for (size_t i = 0; i < y.outputs[kY].values.data.size(); ++i) {
    Measured sum = 0;
    for (size_t f = 0; f < F; ++f) {
      sum = sum + y(kHidden, i / M * F + f) * In(inputs, "down").data[i % M * F + f];
    }
    findings.Equal(y(kY, i), sum, {y, kY, i});
  }
  return findings;
}

Findings CheckOrder(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t M = ExtentOf(c, "M");
  Tensors turned = inputs;
  for (const char* name : {"gate", "up"}) ReverseBlocks(In(turned, name), 1, M);
  for (const char* name : {"gate_bias", "up_bias"}) {
    if (HasBias(inputs)) ReverseBlocks(In(turned, name), 1, 1);
  }
  ReverseBlocks(In(turned, "down"), M, 1);
  return UnitsInAnyOrder(c, inputs, turned, ask);
}

// The rows of gate and up lie in one weight [2F,M], gate first; read as neighbours.
bool ReadAsNeighbours(const Case& c, Tensors& inputs) {
  const size_t M = ExtentOf(c, "M"), F = ExtentOf(c, "F");
  std::vector<double> fused = In(inputs, "gate").data;
  fused.insert(fused.end(), In(inputs, "up").data.begin(), In(inputs, "up").data.end());
  for (size_t f = 0; f < F; ++f) {
    for (size_t m = 0; m < M; ++m) {
      In(inputs, "gate").data[f * M + m] = fused[2 * f * M + m];
      In(inputs, "up").data[f * M + m] = fused[(2 * f + 1) * M + m];
    }
  }
  return F > 1;
}

}  // namespace

Findings UnitsInAnyOrder(const Case& c, const Tensors& inputs, const Tensors& turned,
                         const Ask& ask) {
  const auto& outputs = c.info().signature.outputs;
  const auto at = std::ranges::find(outputs, "hidden", &TensorSpec::name);
  const auto hidden = static_cast<size_t>(at - outputs.begin());
  const size_t F = ExtentOf(c, "F");
  const Response a = ask(c, inputs), b = ask(c, turned);
  Findings findings;
  for (size_t i = 0; i < a.outputs[kY].values.data.size(); ++i) {
    findings.Equal(a(kY, i), b(kY, i), {b, kY, i});
  }
  if (!a.Has(hidden) || !b.Has(hidden)) return findings;
  for (size_t i = 0; i < a.outputs[hidden].values.data.size(); ++i) {
    findings.Equal(a(hidden, i), b(hidden, i / F * F + (F - 1 - i % F)), {b, hidden, i});
  }
  return findings;
}

std::vector<Property> FeedForwardProperties() {
  const auto twice = [](const char* weight) {
    return [weight](const Case& c, const Tensors& inputs, const Ask& ask) {
      return CheckTwice(c, inputs, ask, weight);
    };
  };
  return {{"zero_down", "without the last weight nothing comes through", CheckDown},
          {"linear_in_down", "twice the last weight gives twice y", twice("down")},
          {"linear_in_up", "twice the half that is not activated gives twice y", twice("up")},
          {"hidden_times_down", "y is the hidden tensor times the last weight", CheckHidden},
          {"channels_in_any_order", "the order of the hidden channels does not count", CheckOrder}};
}

std::vector<Defect> FeedForwardDefects() {
  return {
      ExchangedInputs("gate_up_swapped", "the other half is activated (F.glu's order)",
                      {{"gate", "up"}}),
      ChangedInputs("fused_rows_as_neighbours",
                    "one weight holds gate and up one after the other, read as even and odd rows",
                    ReadAsNeighbours),
      TransposedInput("down_transposed", "the last weight is read as [F,M]", "down"),
      TransposedInput("gate_transposed", "the gate's weight is read as [M,F]", "gate"),
      TransposedInput("up_transposed", "the weight of the other half is read as [M,F]", "up"),
      ChangedRecipe("dot_in_bf16", "dot products are accumulated in bf16", "dot=bf16"),
      ChangedRecipe("dot_in_f16", "dot products are accumulated in f16", "dot=f16"),
      ChangedRecipe("hidden_in_bf16", "what layers hand on is kept in bf16 whatever the dtype",
                    "keep=bf16"),
      ChangedRecipe("hidden_in_f16", "what layers hand on is kept in f16 whatever the dtype",
                    "keep=f16"),
      ChangedRecipe("activation_in_bf16", "the activation is computed in bf16 whatever the dtype",
                    "activation=bf16"),
  };
}

}  // namespace sextant::oracle
