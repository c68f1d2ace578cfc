#include "oracle/rope/rotary_window.h"

#include "oracle/property/changed_inputs.h"
#include "oracle/rope/configuration.h"

namespace sextant::oracle {

Window::Window(const Case& c) : RotatedChannels(c), amplitude(NumberOf(c, "attention_factor", 1)) {
  const Shape x = c.ShapeOf(c.signature().inputs[0]);
  rows = x[0] * x[1] * x[2];
  // Keys that are shifted by a delta already have their amplitude.
  const bool by_position = c.signature().inputs[1].name != "delta";
  if (by_position && !TextOf(c, "scaling").empty()) amplitude = AmplitudeOf(c);
}

std::pair<size_t, size_t> Window::Pair(size_t r, size_t k) const {
  const auto [first, second] = RotatedChannels::Pair(k);
  return {Row(r) + first, Row(r) + second};
}

Tensors WithPositions(Tensors inputs, const std::function<double(double)>& change) {
  for (double& p : inputs[1].values.data) p = change(p);
  return inputs;
}

}  // namespace sextant::oracle
