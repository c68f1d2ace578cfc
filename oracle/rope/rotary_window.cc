#include "oracle/rope/rotary_window.h"

#include "oracle/property/changed_inputs.h"
#include "oracle/rope/configuration.h"

namespace sextant::oracle {

Window::Window(const Case& c)
    : offset(static_cast<size_t>(NumberOf(c, "offset", 0))),
      pairs(ExtentOf(c, "R") / 2),
      width(ExtentOf(c, "D")),
      amplitude(NumberOf(c, "attention_factor", 1)) {
  if (const std::string text = TextOf(c, "pairing"); !text.empty()) ParseValue(text, pairing);
  const Shape x = c.ShapeOf(c.info().signature.inputs[0]);
  rows = x[0] * x[1] * x[2];
  if (TextOf(c, "arrangement") == "blocks") blocks = ExtentOf(c, "A");
  // Keys that are shifted by a delta already have their amplitude.
  const bool by_position = c.info().signature.inputs[1].name != "delta";
  if (by_position && !TextOf(c, "scaling").empty()) amplitude = AmplitudeOf(c);
}

std::pair<size_t, size_t> Window::Pair(size_t r, size_t k) const {
  const size_t own = pairs / blocks, start = Row(r) + offset + k / own * 2 * own;
  const auto [first, second] = ChannelsOf(pairing, k % own, 2 * own);
  return {start + first, start + second};
}

Tensors WithPositions(Tensors inputs, const std::function<double(double)>& change) {
  for (double& p : inputs[1].values.data) p = change(p);
  return inputs;
}

}  // namespace sextant::oracle
