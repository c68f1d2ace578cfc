#include "oracle/diagnosis/input/input_changes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>

#include "oracle/diagnosis/choices.h"
#include "oracle/diagnosis/input/input_axes.h"
#include "oracle/diagnosis/input/input_memory.h"
#include "oracle/diagnosis/input/input_norms.h"
#include "oracle/diagnosis/input/input_roundings.h"
#include "oracle/diagnosis/input/several_inputs.h"
#include "oracle/diagnosis/vocabulary/exchanged_axes.h"
#include "oracle/diagnosis/work.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

using Numbers = std::vector<double>;

InputChange ElementwiseChange(const char* text, size_t index, double (*of)(double)) {
  return {text, [=](const Tensors& inputs) {
            Numbers y = inputs[index].values.data;
            for (double& x : y) x = of(x);
            return y;
          }};
}

// The same function of every element: what implementations often do, and what they rarely do.
std::vector<InputChange> UsualFunctions(size_t index) {
  return {ElementwiseChange("is missing (0 everywhere)", index, [](double) { return 0.0; }),
          ElementwiseChange("is multiplied by -1", index, [](double x) { return -x; }),
          ElementwiseChange("is multiplied by 2", index, [](double x) { return 2 * x; }),
          ElementwiseChange("is multiplied by 0.5", index, [](double x) { return x / 2; }),
          ElementwiseChange("has absolute values", index, [](double x) { return std::abs(x); })};
}
std::vector<InputChange> RareFunctions(size_t index) {
  return {ElementwiseChange("is squared", index, [](double x) { return x * x; }),
          ElementwiseChange("has the square roots of its absolute values, with their signs", index,
                            [](double x) { return std::copysign(std::sqrt(std::abs(x)), x); }),
          ElementwiseChange("is rounded to whole numbers", index,
                            [](double x) { return std::nearbyint(x); }),
          ElementwiseChange("has 0 instead of its negative numbers", index,
                            [](double x) { return x < 0 ? 0 : x; }),
          ElementwiseChange("has 0 instead of its positive numbers", index,
                            [](double x) { return x > 0 ? 0 : x; }),
          ElementwiseChange("has -infinity instead of its negative numbers", index,
                            [](double x) { return x < 0 ? -kInfinity : x; }),
          ElementwiseChange("is a mask: -infinity where it is negative, and 0 elsewhere", index,
                            [](double x) { return x < 0 ? -kInfinity : 0; })};
}

using Changes = std::vector<InputChange>;

Changes UsualChanges(const Case& c, const Tensors& inputs, size_t index) {
  const Shape& shape = inputs[index].values.shape;
  Changes changes = UsualFunctions(index);
  for (InputChange& change : InputOrders(c.signature().inputs[index], shape, index))
    changes.push_back(std::move(change));
  for (InputChange& change : ExchangedAxes(c.signature().inputs[index], shape, index))
    changes.push_back(std::move(change));
  if (shape.size() == 2) {
    changes.push_back(
        {"is read transposed, as if it were stored column after column",
         [=](const Tensors& all) { return ReadWithExchangedAxes(all[index].values, 0, 1); }});
  }
  for (size_t other = 0; other < inputs.size(); ++other) {
    if (other == index || inputs[other].values.shape != shape) continue;
    changes.push_back({"is read from " + inputs[other].name,
                       [=](const Tensors& all) { return all[other].values.data; }});
  }
  return changes;
}

Changes RareChanges(const Case& c, const Tensors& inputs, size_t index) {
  const TensorSpec& spec = c.signature().inputs[index];
  const Shape& shape = inputs[index].values.shape;
  Changes changes = RareFunctions(index);
  const auto add = [&](const std::vector<Rounding>& roundings) {
    for (const Rounding& rounding : roundings)
      changes.push_back({"is " + rounding.text,
                         [=](const Tensors& all) { return rounding.apply(all[index].values); }});
  };
  add(UsualRoundings());
  add(RareRoundings());
  for (InputChange& change : RareInputOrders(spec, shape, index))
    changes.push_back(std::move(change));
  for (InputChange& change : NormedRows(index)) changes.push_back(std::move(change));
  for (InputChange& change : InputParts(spec, shape, index)) changes.push_back(std::move(change));
  return changes;
}

Deviation ChoiceOf(const Tensors& inputs, size_t index, const Changes& changes,
                   const std::string& name = "_changed") {
  std::vector<Choice> choices;
  for (const InputChange& change : changes) {
    choices.push_back({inputs[index].name + " " + change.text,
                       [=](const Hypothesis& base) -> std::optional<Hypothesis> {
                         Tensors other = base.inputs;
                         Numbers numbers = change.apply(other);
                         if (numbers == other[index].values.data) return std::nullopt;
                         other[index].values.data = std::move(numbers);
                         Hypothesis model = base;
                         model.inputs = std::move(other);
                         return model;
                       }});
  }
  return OneOf(inputs[index].name + name, inputs[index].name, choices);
}

// Rounded to a narrower format: "x_in_bf16".
std::vector<Deviation> InFormats(const Tensors& inputs, size_t index) {
  std::vector<Deviation> deviations;
  for (const DType format : {DType::kBF16, DType::kF16, DType::kF32}) {
    if (UnitRoundoffOf(format) <= UnitRoundoffOf(inputs[index].dtype)) continue;
    const Rounding rounding = ToFormat(format);
    const auto rounded = [=](const Tensors& all) { return rounding.apply(all[index].values); };
    deviations.push_back(ChoiceOf(inputs, index, {{"is " + rounding.text, rounded}},
                                  "_in_" + std::string(NameOf(format))));
  }
  return deviations;
}

// The operation is applied to its own answer, which has the shape of x.
Deviation AppliedTwice(const Observation& seen, size_t index) {
  const auto twice = [&seen, index](const Hypothesis& base) -> std::optional<Hypothesis> {
    Tensors changed = base.inputs;
    const Tensors once = EvaluateByRecipe({seen.c, changed, seen.recipe, *base.operation});
    if (once[0].values.shape != changed[index].values.shape) return std::nullopt;
    changed[index].values = once[0].values;
    Hypothesis model = base;
    model.inputs = std::move(changed);
    return model;
  };
  return OneOf("applied_twice", "x", {{"the operation is applied twice: to x, and to y", twice}});
}

// An input whose elements are of(x, number).
Deviation WithNumber(const NamedTensor& input, size_t index, Deviation deviation,
                     const std::function<double(double x, double number)>& of,
                     const std::function<bool(size_t flat)>& has = nullptr) {
  deviation.factor = input.name;
  deviation.changed = [=](const Hypothesis& base, double number) -> std::optional<Hypothesis> {
    Hypothesis model = base;
    model.inputs = base.inputs.Changed(
        index, [=](size_t flat, double x) { return !has || has(flat) ? of(x, number) : x; });
    return model;
  };
  return deviation;
}

// A number is added to all elements.
Deviation AddedTo(const NamedTensor& input, size_t index) {
  return WithNumber(
      input, index,
      {.name = input.name + "_shifted",
       .factor = {},
       .values = {{1}, {-1}, {0.5}, {-0.5}, {2}, {-2}},
       .right = 0,
       .changed = {},
       .sentence = [name = input.name](
                       const std::string& number) { return number + " is added to " + name; }},
      [](double x, double added) { return x + added; });
}

// Numbers beyond a limit are the limit, on both sides.
Deviation LimitOf(const NamedTensor& input, size_t index) {
  double largest = 0;
  for (const double x : input.values.data)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  return WithNumber(
      input, index,
      {.name = input.name + "_limited",
       .factor = {},
       .values = {{1}, {2}, {3}, {4}, {5}, {6}, {8}, {10}, {0.5}},
       .right = largest,
       .changed = {},
       .sentence =
           [name = input.name](const std::string& number) {
             return name + " is limited to " + number + " and -" + number;
           }},
      [](double x, double limit) { return std::clamp(x, -std::abs(limit), std::abs(limit)); });
}

double Product(double x, double factor) { return x * factor; }

// Factors that implementations have.
Deviation Multiplied(const std::string& name, const std::string& phrase) {
  std::vector<NamedValue> likely = {{-1}, {2}, {0.5}, {4}, {0.25}, {8}, {0.125}};
  likely.push_back({1 / std::numbers::ln2, "1.442695 = log2(e)"});
  likely.push_back({std::numbers::ln2, "0.6931472 = ln 2"});
  return {.name = name,
          .factor = {},
          .values = std::move(likely),
          .right = 1,
          .changed = {},
          .sentence = [phrase](const std::string& number) { return phrase + " " + number; }};
}

// An input multiplied by a number at some indices: numbers of other places are no alternatives, so
// each place has its own name.
Deviation FactorAt(const NamedTensor& input, size_t index, const InputPlace& place) {
  return WithNumber(input, index,
                    Multiplied(input.name + "_multiplied_" + place.name,
                               input.name + " is multiplied " + place.text + " by"),
                    Product, place.has);
}

}  // namespace

Deviation InputFactor(const Tensors& inputs, const std::string& name, const std::string& phrase) {
  const auto index =
      static_cast<size_t>(std::ranges::find(inputs, name, &NamedTensor::name) - inputs.begin());
  return WithNumber(inputs[index], index, Multiplied(name + "_multiplied", phrase), Product);
}

std::vector<Deviation> InputChanges(const Case& c, const Tensors& inputs) {
  std::vector<Deviation> deviations;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].dtype != DType::kI64)
      deviations.push_back(ChoiceOf(inputs, i, UsualChanges(c, inputs, i)));
  return deviations;
}

std::vector<Explanation> MeasureInputs(const Observation& seen) {
  const Hypothesis base = RightOf(seen);
  std::vector<Deviation> deviations = InputChanges(seen.c, seen.inputs), rare;
  for (size_t i = 0; i < seen.inputs.size(); ++i) {
    const TensorSpec& spec = seen.c.signature().inputs[i];
    const Shape& shape = seen.inputs[i].values.shape;
    if (seen.inputs[i].dtype == DType::kI64) {
      rare.push_back(ChoiceOf(seen.inputs, i, InputOrders(spec, shape, i)));
      rare.push_back(ChoiceOf(seen.inputs, i, RareInputOrders(spec, shape, i)));
      continue;
    }
    const std::string& name = seen.inputs[i].name;
    // Each element of an answer is computed.
    constexpr size_t kMostWork = size_t{1} << 24;
    if (name == "x" && WorkOf(seen.c) <= kMostWork) rare.push_back(AppliedTwice(seen, i));
    deviations.push_back(InputFactor(seen.inputs, name, name + " is multiplied by"));
    deviations.push_back(AddedTo(seen.inputs[i], i));
    rare.push_back(LimitOf(seen.inputs[i], i));
    for (Deviation& one : InFormats(seen.inputs, i)) rare.push_back(std::move(one));
    rare.push_back(ChoiceOf(seen.inputs, i, RareChanges(seen.c, seen.inputs, i)));
    for (const InputPlace& place : InputPlaces(spec, shape))
      rare.push_back(FactorAt(seen.inputs[i], i, place));
  }
  for (auto& several : {AllRounded(seen.inputs), CachesReordered(seen.c, seen.inputs)})
    rare.insert(rare.end(), several.begin(), several.end());
  return FittedTo(seen, base, deviations, rare);
}

}  // namespace sextant::oracle
