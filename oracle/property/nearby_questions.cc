#include "oracle/property/nearby_questions.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "oracle/property/changed_inputs.h"
#include "reference/base/value_text.h"
#include "reference/case/choices.h"
#include "reference/case/draw.h"
#include "reference/number/tensor/dtype.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMostEnds = 64;  // numbers at each end
constexpr size_t kLargestOutput = size_t{1} << 22;
constexpr size_t kNumbersPerOther = 2048;
constexpr int kMostExponent = 2;  // of the powers of two

// True if any number of its type is an input of that name: not an index, not half of a pair.
bool IsAny(const Case& c, const std::string& name) {
  const TensorSpec* const spec = FindTensor(c.signature(), name);
  return spec && spec->role == Role::kCase && !c.SpecOf(*spec).starts_with("circle_");
}

std::optional<Case> Changed(const Case& c, const std::string& word) {
  for (const bool drawn : {false, true}) {
    try {
      Case changed = drawn ? c.WithDrawnInputs().With(word) : c.With(word);
      for (const TensorSpec& input : changed.signature().inputs) CheckSpec(changed, input);
      return changed;
    } catch (const Error&) {
    }
  }
  return std::nullopt;
}

bool HaveEqualOutputs(const Case& a, const Case& b) {
  return std::ranges::all_of(a.info().signature.outputs, [&](const TensorSpec& output) {
    return a.DTypeOf(output) == b.DTypeOf(output) && a.ShapeOf(output) == b.ShapeOf(output);
  });
}

std::optional<double> Number(const std::string& text) {
  double number = 0;
  try {
    ParseValue(text, number);
  } catch (const Error&) {
    return std::nullopt;
  }
  return number;
}

template <class Value>
void Shuffle(std::vector<Value>& values, SplitMix64& random) {
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.Below(i)]);
}

}  // namespace

Tensors WithEndsOf(const Tensors& inputs, Tensors others) {
  for (size_t t = 0; t < inputs.size(); ++t) {
    const auto& from = inputs[t].values.data;
    auto& to = others[t].values.data;
    const size_t kept = std::min(kMostEnds, from.size() / 4);
    std::copy_n(from.begin(), kept, to.begin());
    std::copy_n(from.rbegin(), kept, to.rbegin());
  }
  return others;
}

Tensors WithFewOf(Tensors inputs, const Tensors& others, SplitMix64& random) {
  if (inputs.empty()) return inputs;
  const size_t t = random.Below(inputs.size());
  std::vector<double>& numbers = inputs[t].values.data;
  for (size_t done = 0; done < numbers.size(); done += kNumbersPerOther) {
    const size_t i = random.Below(numbers.size());
    numbers[i] = others[t].values.data[i];
  }
  return inputs;
}

Tensors Reversed(const Case& c, Tensors inputs) {
  for (NamedTensor& input : inputs) {
    if (IsAny(c, input.name)) std::ranges::reverse(input.values.data);
  }
  return inputs;
}

Tensors Scaled(const Case& c, Tensors inputs, SplitMix64& random) {
  for (NamedTensor& input : inputs) {
    const int exponent = static_cast<int>(random.Below(2 * kMostExponent + 1)) - kMostExponent;
    if (!IsAny(c, input.name)) continue;
    const double factor = std::ldexp(1.0, exponent);
    const bool exact = std::ranges::all_of(input.values.data, [&](double x) {
      return !std::isfinite(x) || RoundTo(input.dtype, x * factor) == x * factor;
    });
    if (exact) input.values = Times(input.values, factor);
  }
  return inputs;
}

std::vector<Case> WithOneOtherAttribute(const Case& c, SplitMix64& random) {
  std::vector<Choices> all = ChoicesOf(c.info());
  Shuffle(all, random);
  std::vector<Case> others;
  for (Choices& choices : all) {
    if (c.dimensions().contains(choices.key)) continue;
    Shuffle(choices.texts, random);
    const std::string before = TextOf(c, choices.key);
    if (const auto number = Number(before))
      choices.texts.insert(choices.texts.begin(), PrintValue(*number * random.Uniform(0.5, 2)));
    for (const std::string& text : choices.texts) {
      const auto other = Changed(c, choices.key + "=" + text);
      if (!other || !HaveEqualOutputs(*other, c) || TextOf(*other, choices.key) == before) continue;
      others.push_back(*other);
      break;
    }
  }
  return others;
}

std::optional<Case> WithOtherRows(const Case& c, Rows rows) {
  const TensorSpec& output = c.info().signature.outputs[0];
  for (size_t i = 0; i + 1 < output.extents.size(); ++i) {
    const std::string& axis = output.extents[i];
    if (!c.dimensions().contains(axis) || c.dimensions().at(axis) < 1) continue;
    const int64_t extent = c.dimensions().at(axis);
    if (rows == Rows::kFewer && extent == 1) continue;
    const int64_t other = rows == Rows::kFewer ? (extent + 1) / 2 : 2 * extent;
    auto changed = Changed(c, axis + "=" + std::to_string(other));
    if (changed && CountOf(changed->ShapeOf(output)) <= kLargestOutput) return changed;
  }
  return std::nullopt;
}

}  // namespace sextant::oracle
