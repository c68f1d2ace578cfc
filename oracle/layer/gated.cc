#include "reference/layer/gated.h"

#include <algorithm>

#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/gated_mutations.h"
#include "oracle/layer/measured/gated.h"
#include "oracle/layer/tensor_places.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {
namespace {

GateKind GateKindOf(const Case& c) {
  GateKind kind{};
  ParseValue(TextOf(c, "kind"), kind);
  return kind;
}
bool HasLimit(const Case& c) { return !TextOf(c, "limit").empty(); }
bool HasPlusOne(const Case& c) { return TextOf(c, "plus_one") == "true"; }

// y(u) + y(-u) = 2 y(0), with or without limit and plus_one.
Comparisons CheckUp(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs), mirrored = ask(c, Multiplied(inputs, {"up"}, -1)),
                 zero = ask(c, Filled(inputs, {"up"}, 0));
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(); ++i) {
    comparisons.Equal(y(0, i) + mirrored(0, i), zero(0, i) * 2, {y, 0, i});
    if (!HasPlusOne(c)) comparisons.Equal(zero(0, i), 0, {zero, 0, i});
  }
  return comparisons;
}

Comparisons CheckGatedTwice(const Case& c, const Tensors& inputs, const Ask& ask) {
  if (HasLimit(c) || HasPlusOne(c)) return {};
  Comparisons comparisons;
  ExpectProportional(ask(c, Multiplied(inputs, {"up"}, 2)), 2, ask(c, inputs), comparisons);
  return comparisons;
}

// Without a limit f(g) - f(-g) = g, or f(g) + f(-g) = 1 for a sigmoid, each times up (+ 1).
Comparisons CheckGate(const Case& c, const Tensors& inputs, const Ask& ask) {
  if (HasLimit(c)) return {};
  const Response y = ask(c, inputs), mirrored = ask(c, Multiplied(inputs, {"gate"}, -1));
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(); ++i) {
    const Measured u = Measured(inputs[kUp].values.data[i]) + (HasPlusOne(c) ? 1 : 0);
    if (GateKindOf(c) == GateKind::kGlu) {
      comparisons.Equal(y(0, i) + mirrored(0, i), u, {y, 0, i});
    } else {
      comparisons.Equal(y(0, i) - mirrored(0, i), u * inputs[kGate].values.data[i], {y, 0, i});
    }
  }
  return comparisons;
}

// Inputs beyond a limit give the same as inputs at the limit.
Comparisons CheckLimit(const Case& c, const Tensors& inputs, const Ask& ask) {
  if (!HasLimit(c)) return {};
  const double limit = RoundTo(inputs[kGate].dtype, NumberOf(c, "limit", 1));
  if (limit != NumberOf(c, "limit", 1)) return {};
  Tensors limited = inputs;
  for (double& g : limited[kGate].values.data) g = std::min(g, limit);
  for (double& u : limited[kUp].values.data) u = std::clamp(u, -limit, limit);
  Comparisons comparisons;
  ExpectEqual(ask(c, inputs), ask(c, limited), comparisons);
  return comparisons;
}

std::optional<Hypothesis> HalvesReadAsPairs(const Case& c, const Tensors& inputs,
                                            const Recipe& recipe) {
  const size_t F = ExtentOf(c, "F");
  if (F < 2) return std::nullopt;
  const auto read_at = [&inputs, F](size_t flat, size_t is_up) {
    const size_t j = flat % F, in_row = 2 * j + is_up;
    return inputs[in_row < F ? kGate : kUp].values.data[flat - j + in_row % F];
  };
  const auto changed = SharedInputs::Of(inputs)
                           .Changed(kGate, [=](size_t flat, double) { return read_at(flat, 0); })
                           .Changed(kUp, [=](size_t flat, double) { return read_at(flat, 1); });
  return Hypothesis{c.operation().Clone(), changed, recipe};
}

std::vector<Defect> GatedOtherDefects() {
  return {
      ExchangedInputs("gate_exchanged_with_up",
                      "up is activated instead of gate, as torch's glu gates with the second half",
                      {{"gate", "up"}}),
      {"halves_read_as_pairs",
       "gate and up, side by side in a row, are read as even and odd channels, the layout of "
       "gpt-oss",
       HalvesReadAsPairs},
      ChangedRecipe("activation_in_bf16", "the activation is computed in bf16", "activation=bf16"),
      ChangedRecipe("activation_in_f16", "the activation is computed in f16", "activation=f16"),
      ChangedRecipe("product_in_bf16", "the product is computed in bf16 for every dtype",
                    "gate=bf16"),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Gated>() {
  return {
      .properties = {{"affine_in_up", "y(u) + y(-u) = 2 y(0)", CheckUp},
                     {"linear_in_up", "twice up gives twice y", CheckGatedTwice},
                     {"mirrored_gate", "f(-g) follows from f(g) by the symmetry of the function",
                      CheckGate},
                     {"limits", "inputs beyond a limit give the same as the limit", CheckLimit}},
      .defects =
          Joined<Defect>({MutatedFormulas<MutatedGated>(GatedMutations()), GatedOtherDefects()}),
      .measurements = GatedMeasurements()};
}

}  // namespace sextant::oracle
