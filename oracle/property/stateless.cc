#include "oracle/property/stateless.h"

#include <cmath>
#include <utility>
#include <vector>

#include "reference/case/choices.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

// The case with the word; unchanged if the word is not valid in it.
Case With(const Case& c, const std::string& word) {
  try {
    return c.With(word);
  } catch (const Error&) {
    return c;
  }
}

// By which a cache may know a case.
std::vector<std::pair<DType, Shape>> OutputsOf(const Case& c) {
  std::vector<std::pair<DType, Shape>> outputs;
  for (const TensorSpec& output : c.info().signature.outputs)
    outputs.emplace_back(c.DTypeOf(output), c.ShapeOf(output));
  return outputs;
}

// The case with other inputs, and with another choice for each of its attributes, where it does not
// change the dtype or shape of an output, or (if `of_dimensions`) of its dimensions.
Case Other(const Case& c, bool of_dimensions) {
  Case other = c.With("seed=" + std::to_string(c.seed() + 1));
  for (const Choices& choices : ChoicesOf(c.info())) {
    if (c.dimensions().contains(choices.key) != of_dimensions) continue;
    const std::string before = other.ToString();
    for (const std::string& text : choices.texts) {
      const Case next = With(other, choices.key + "=" + text);
      if (!of_dimensions && OutputsOf(next) != OutputsOf(other)) continue;
      other = next;
      if (other.ToString() != before) break;
    }
  }
  return other;
}

void AskOther(const Case& c, const Ask& ask) {
  Tensors inputs;
  try {
    inputs = DrawInputs(c);
  } catch (const Error&) {
    return;  // the specification of an input is not valid with the other extents
  }
  try {
    ask(c, inputs);
  } catch (const Declined&) {
  }
}

// Compares two answers to the same case. Equal infinities are equal.
Comparisons SameAgain(const Response& before, const Response& after) {
  Comparisons comparisons;
  for (size_t o = 0; o < before.outputs.size(); ++o) {
    if (!before.Has(o) || !after.Has(o)) continue;
    for (size_t i = 0; i < before.size(o); ++i) {
      const double was = before.outputs[o].values.data[i], is = after.outputs[o].values.data[i];
      if (std::isinf(was) && was == is) continue;
      comparisons.Equal(before(o, i), after(o, i), {after, o, i});
    }
  }
  return comparisons;
}

}  // namespace

Property Stateless() {
  return {"stateless", "after other cases, the same case gives the same answer",
          [](const Case& c, const Tensors& inputs, const Ask& ask) {
            const Response before = ask(c, inputs);
            AskOther(Other(c, false), ask);
            const DType dtype = c.dtype() == DType::kF32 ? DType::kBF16 : DType::kF32;
            AskOther(With(Other(c, true), "dtype=" + std::string(NameOf(dtype))), ask);
            return SameAgain(before, ask(c, inputs));
          }};
}

}  // namespace sextant::oracle
