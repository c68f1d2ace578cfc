#include "oracle/rope/configuration_properties.h"

#include <cmath>

#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "oracle/rope/configuration.h"
#include "oracle/rope/rotary_window.h"

namespace sextant::oracle {
namespace {

// f_k for base b^2 is f_2k for base b: x in pair 2k with base b rotates as x in pair k with base
// b^2.
Comparisons CheckConfigurationSquaredBase(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Window window(c);
  const double base = NumberOf(c, "base", 0);
  if (std::fma(base, base, -(base * base)) != 0) return {};  // the square is not a double
  if (!DependsOnFrequencyAlone(Configuration(c).scaling)) return {};
  Tensors spread = inputs;
  for (size_t r = 0; r < window.rows; ++r) {
    for (size_t k = 0; 2 * k < window.pairs; ++k) {
      const auto [i, j] = window.Pair(r, k);
      const auto [i2, j2] = window.Pair(r, 2 * k);
      spread[0].values.data[i2] = inputs[0].values.data[i];
      spread[0].values.data[j2] = inputs[0].values.data[j];
    }
  }
  const Response plain = ask(c, spread);
  const Response squared = ask(c.With("base=" + PrintValue(base * base)), inputs);
  Comparisons comparisons;
  for (size_t r = 0; r < window.rows; ++r) {
    for (size_t k = 0; 2 * k < window.pairs; ++k) {
      const auto [i, j] = window.Pair(r, k);
      const auto [i2, j2] = window.Pair(r, 2 * k);
      comparisons.Equal(squared(0, i), plain(0, i2), {squared, 0, i});
      comparisons.Equal(squared(0, j), plain(0, j2), {squared, 0, j});
    }
  }
  return comparisons;
}

// Linear scaling by 4 rotates at position 4p as no scaling does at position p.
Comparisons CheckConfigurationInterpolation(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response plain = ask(c.With("scaling=none"), inputs);
  const Response scaled = ask(c.With("scaling=linear(factor=4)"),
                              WithPositions(inputs, [](double p) { return 4 * p; }));
  Comparisons comparisons;
  ExpectEqual(scaled, plain, comparisons);
  return comparisons;
}

}  // namespace

Property LinearScalingStretches() {
  return {"linear_scaling_stretches",
          "linear scaling by 4 rotates at position 4p as no scaling does at position p",
          CheckConfigurationInterpolation};
}

std::vector<Property> PropertiesOfConfiguration() {
  return {{"squared_base_skips_pairs", "pair k with base b^2 rotates as pair 2k with base b",
           CheckConfigurationSquaredBase},
          LinearScalingStretches()};
}

}  // namespace sextant::oracle
