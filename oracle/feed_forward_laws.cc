#include "oracle/feed_forward_laws.h"

#include <algorithm>

#include "oracle/laws.h"

namespace sextant::oracle {
namespace {

constexpr size_t kY = 0, kHidden = 1;

bool HasBias(const Tensors& inputs) {
  return std::ranges::find(inputs, "down_bias", &NamedTensor::name) != inputs.end();
}
void Fill(Tensors& inputs, const std::string& name, double value) {
  std::ranges::fill(In(inputs, name).data, value);
}

// Without the last layer's weight its bias is left.
Findings CheckDown(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors none = inputs;
  Fill(none, "down", 0);
  const Response y = ask(c, none);
  const size_t M = ExtentOf(c, "M");
  Findings findings;
  for (size_t i = 0; i < y.outputs[kY].values.data.size(); ++i) {
    const double expected = HasBias(inputs) ? In(none, "down_bias").data[i % M] : 0;
    findings.Equal(y(kY, i), expected, {y, kY, i});
  }
  return findings;
}

// The second half counts in proportion, and so does the last layer. Half of a number need not be
// one of the dtype.
Findings CheckTwice(const Case& c, Tensors inputs, const Ask& ask, const std::string& weight) {
  if (HasBias(inputs)) Fill(inputs, "up_bias", 0);
  if (HasBias(inputs)) Fill(inputs, "down_bias", 0);
  Tensors twice = inputs;
  In(twice, weight) = Times(In(inputs, weight), 2);
  const Response y = ask(c, inputs), larger = ask(c, twice);
  Findings findings;
  for (size_t i = 0; i < y.outputs[kY].values.data.size(); ++i) {
    findings.Equal(y(kY, i) * 2, larger(kY, i), {larger, kY, i});
  }
  return findings;
}

// y is the hidden tensor, as answered, times the last weight.
Findings CheckHidden(const Case& c, Tensors inputs, const Ask& ask) {
  if (HasBias(inputs)) Fill(inputs, "down_bias", 0);
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

// Hidden channels in reverse order: the same y, hidden in reverse order.
Findings CheckOrder(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t M = ExtentOf(c, "M"), F = ExtentOf(c, "F");
  Tensors turned = inputs;
  const auto reverse_rows = [&](const std::string& name, size_t width) {
    const std::vector<double> from = In(turned, name).data;
    for (size_t i = 0; i < from.size(); ++i) {
      In(turned, name).data[(F - 1 - i / width) * width + i % width] = from[i];
    }
  };
  for (const char* name : {"gate", "up"}) reverse_rows(name, M);
  for (const char* name : {"gate_bias", "up_bias"}) {
    if (HasBias(inputs)) reverse_rows(name, 1);
  }
  const std::vector<double> down = In(turned, "down").data;
  for (size_t i = 0; i < down.size(); ++i) {
    In(turned, "down").data[i / F * F + (F - 1 - i % F)] = down[i];
  }
  const Response a = ask(c, inputs), b = ask(c, turned);
  Findings findings;
  for (size_t i = 0; i < a.outputs[kY].values.data.size(); ++i) {
    findings.Equal(a(kY, i), b(kY, i), {b, kY, i});
  }
  if (!a.Has(kHidden) || !b.Has(kHidden)) return findings;
  for (size_t i = 0; i < a.outputs[kHidden].values.data.size(); ++i) {
    findings.Equal(a(kHidden, i), b(kHidden, i / F * F + (F - 1 - i % F)), {b, kHidden, i});
  }
  return findings;
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

// The memory of `name` [rows,columns] is read as [columns,rows].
bool Transpose(Tensors& inputs, const std::string& name, size_t rows, size_t columns) {
  const std::vector<double> from = In(inputs, name).data;
  for (size_t i = 0; i < from.size(); ++i) {
    In(inputs, name).data[i] = from[i % columns * rows + i / columns];
  }
  return rows > 1 && columns > 1;
}

}  // namespace

std::vector<Property> FeedForwardLaws() {
  const auto twice = [](const std::string& weight) {
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
      ChangedInputs("gate_up_swapped", "the other half is activated (F.glu's order)",
                    [](const Case&, Tensors& inputs) {
                      std::swap(In(inputs, "gate").data, In(inputs, "up").data);
                      return true;
                    }),
      ChangedInputs("fused_rows_as_neighbours",
                    "one weight holds gate and up one after the other, read as even and odd rows",
                    ReadAsNeighbours),
      ChangedInputs("down_transposed", "the last weight is read as [F,M]",
                    [](const Case& c, Tensors& inputs) {
                      return Transpose(inputs, "down", ExtentOf(c, "M"), ExtentOf(c, "F"));
                    }),
      ChangedInputs("gate_transposed", "the gate's weight is read as [M,F]",
                    [](const Case& c, Tensors& inputs) {
                      return Transpose(inputs, "gate", ExtentOf(c, "F"), ExtentOf(c, "M"));
                    }),
      ChangedInputs("up_transposed", "the weight of the other half is read as [M,F]",
                    [](const Case& c, Tensors& inputs) {
                      return Transpose(inputs, "up", ExtentOf(c, "F"), ExtentOf(c, "M"));
                    }),
      ChangedRecipe("sums_in_bf16", "dot products are accumulated in bf16", "dot=bf16"),
      ChangedRecipe("sums_in_f16", "dot products are accumulated in f16", "dot=f16"),
      ChangedRecipe("hidden_in_bf16", "what layers hand on is kept in bf16 whatever the dtype",
                    "keep=bf16"),
      ChangedRecipe("hidden_in_f16", "what layers hand on is kept in f16 whatever the dtype",
                    "keep=f16"),
      ChangedRecipe("activation_in_bf16", "the activation is computed in bf16 whatever the dtype",
                    "activation=bf16"),
  };
}

}  // namespace sextant::oracle
