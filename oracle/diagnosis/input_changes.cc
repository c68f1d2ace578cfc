#include "oracle/diagnosis/input_changes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <set>
#include <utility>

#include "oracle/diagnosis/choices.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

using Numbers = std::vector<double>;

// One way to change an input, given all inputs.
struct InputChange {
  std::string text;  // "is missing (0)"
  std::function<Numbers(const Tensors& inputs)> apply;
};

// An axis of a tensor [outer, extent, inner].
struct Axis {
  std::string name;
  size_t extent, inner;
};

// The element of index i is that of index from(i, extent).
struct AxisOrder {
  const char* text;  // # is the name of the axis, @ what its indices are
  size_t (*from)(size_t i, size_t extent);
};
constexpr AxisOrder kOrders[] = {
    {"has its @s in reverse order, along #", [](size_t i, size_t n) { return n - 1 - i; }},
    {"has @ 0 at all #", [](size_t, size_t) { return size_t{0}; }},
    {"has its last @ at all #", [](size_t, size_t n) { return n - 1; }},
    {"has the next @ at each #, and the first at the last",
     [](size_t i, size_t n) { return (i + 1) % n; }},
    {"has the @ before at each #, and the last at the first",
     [](size_t i, size_t n) { return (i + n - 1) % n; }},
    {"has the next @ at each # but the last",
     [](size_t i, size_t n) { return i + 1 < n ? i + 1 : i; }},
    {"has the @ before at each # but the first",
     [](size_t i, size_t) { return i > 0 ? i - 1 : i; }},
    {"has the @ two after each #, around the end", [](size_t i, size_t n) { return (i + 2) % n; }},
    {"has the @ two before each #, around the end",
     [](size_t i, size_t n) { return (i + n - 2 % n) % n; }},
    {"has each even @ twice, along #", [](size_t i, size_t) { return i & ~size_t{1}; }},
    {"has neighbouring @s exchanged, along #",
     [](size_t i, size_t n) { return (i ^ 1) < n ? i ^ 1 : i; }},
    {"has both halves of its @s exchanged, along #",
     [](size_t i, size_t n) { return n % 2 == 0 ? (i + n / 2) % n : i; }},
    {"has both halves of its @s interleaved, along #",
     [](size_t i, size_t n) { return n % 2 == 0 ? i % 2 * (n / 2) + i / 2 : i; }},
    {"has its even @s before the odd ones, along #",
     [](size_t i, size_t n) { return n % 2 == 0 ? i % (n / 2) * 2 + i / (n / 2) : i; }},
};

// What an index of the axis is.
std::string NounOf(const std::string& axis) {
  constexpr std::pair<const char*, const char*> kNouns[] = {
      {"B", "batch"}, {"H", "head"},    {"K", "head"},    {"S", "token"},
      {"T", "key"},   {"D", "channel"}, {"E", "channel"}, {"N", "row"}};
  for (const auto& [letter, noun] : kNouns)
    if (axis == letter) return noun;
  return axis.size() == 1 ? "column" : "row";  // of a table
}

std::string WithName(std::string text, const std::string& axis) {
  for (size_t at; (at = text.find('@')) != std::string::npos;) text.replace(at, 1, NounOf(axis));
  for (size_t at; (at = text.find('#')) != std::string::npos;) text.replace(at, 1, axis);
  return text;
}

// The orders that differ from the right one and from each other.
std::vector<AxisOrder> OrdersOf(size_t extent) {
  std::vector<AxisOrder> orders;
  std::set<std::vector<size_t>> seen;
  const auto indices = [&](const auto& from) {
    std::vector<size_t> all;
    for (size_t i = 0; i < extent; ++i) all.push_back(from(i, extent));
    return all;
  };
  seen.insert(indices([](size_t i, size_t) { return i; }));
  for (const AxisOrder& order : kOrders)
    if (seen.insert(indices(order.from)).second) orders.push_back(order);
  return orders;
}

// Index i has the numbers of index from_of(i).
template <class From>
Numbers Reordered(const Numbers& x, const Axis& axis, const From& from_of) {
  Numbers y(x.size());
  for (size_t flat = 0; flat < x.size(); ++flat) {
    const size_t i = flat / axis.inner % axis.extent, from = from_of(i);
    y[flat] = x[flat + (from - i) * axis.inner];  // may wrap around
  }
  return y;
}

std::vector<Axis> AxesOf(const TensorSpec& spec, const Shape& shape) {
  std::vector<Axis> axes;
  size_t inner = 1;
  for (size_t a = shape.size(); a-- > 0; inner *= shape[a])
    if (shape[a] > 1) axes.push_back({spec.extents[a], shape[a], inner});
  return axes;
}

InputChange Elementwise(const char* text, size_t index, double (*of)(double)) {
  return {text, [=](const Tensors& inputs) {
            Numbers y = inputs[index].values.data;
            for (double& x : y) x = of(x);
            return y;
          }};
}

// A matrix is stored column after column; a square one is transposed.
Numbers Transposed(const Tensor<double>& matrix) {
  const size_t rows = matrix.shape[0], columns = matrix.shape[1];
  Numbers y(matrix.data.size());
  for (size_t i = 0; i < y.size(); ++i) y[i] = matrix.data[i % columns * rows + i / columns];
  return y;
}

// One index has the numbers of a neighbour.
void AddNeighbours(const Axis& axis, size_t index, std::vector<InputChange>& changes) {
  constexpr size_t kMost = 64;
  if (axis.extent > kMost) return;
  const auto add = [&](size_t i, size_t from) {
    changes.push_back({WithName("has @ " + std::to_string(from) + " in place of @ " +
                                    std::to_string(i) + ", along #",
                                axis.name),
                       [=](const Tensors& all) {
                         return Reordered(all[index].values.data, axis,
                                          [=](size_t j) { return j == i ? from : j; });
                       }});
  };
  for (size_t i = 0; i < axis.extent; ++i) {
    if (i > 0) add(i, i - 1);
    if (i + 1 < axis.extent) add(i, i + 1);
  }
}

std::vector<InputChange> ChangesOf(const Case& c, const Tensors& inputs, size_t index) {
  const Shape& shape = inputs[index].values.shape;
  std::vector<InputChange> changes = {
      Elementwise("is missing (0 everywhere)", index, [](double) { return 0.0; }),
      Elementwise("is negated", index, [](double x) { return -x; }),
      Elementwise("is doubled", index, [](double x) { return 2 * x; }),
      Elementwise("is halved", index, [](double x) { return x / 2; }),
      Elementwise("has absolute values", index, [](double x) { return std::abs(x); }),
      Elementwise("is squared", index, [](double x) { return x * x; }),
      Elementwise("has the square roots of its absolute values", index,
                  [](double x) { return std::copysign(std::sqrt(std::abs(x)), x); }),
      Elementwise("is rounded to whole numbers", index, [](double x) { return std::nearbyint(x); }),
      Elementwise("has 0 instead of its negative numbers", index,
                  [](double x) { return x < 0 ? 0 : x; })};
  for (const DType format : {DType::kBF16, DType::kF16, DType::kF32}) {
    if (UnitRoundoffOf(format) <= UnitRoundoffOf(inputs[index].dtype)) continue;
    changes.push_back({"is rounded to " + std::string(NameOf(format)), [=](const Tensors& all) {
                         Numbers y = all[index].values.data;
                         for (double& x : y) x = RoundTo(format, x);
                         return y;
                       }});
  }
  for (const Axis& axis : AxesOf(c.info().signature.inputs[index], shape)) {
    for (const AxisOrder& order : OrdersOf(axis.extent)) {
      changes.push_back({WithName(order.text, axis.name), [=](const Tensors& all) {
                           return Reordered(all[index].values.data, axis,
                                            [&](size_t i) { return order.from(i, axis.extent); });
                         }});
    }
    AddNeighbours(axis, index, changes);
  }
  if (shape.size() == 2) {
    changes.push_back({"is read transposed, as if it were stored column after column",
                       [=](const Tensors& all) { return Transposed(all[index].values); }});
  }
  for (size_t other = 0; other < inputs.size(); ++other) {
    if (other == index || inputs[other].values.shape != shape) continue;
    changes.push_back({"is read from " + inputs[other].name,
                       [=](const Tensors& all) { return all[other].values.data; }});
  }
  return changes;
}

Deviation ChangeOf(const Case& c, const Tensors& inputs, size_t index) {
  std::vector<Choice> choices;
  for (const InputChange& change : ChangesOf(c, inputs, index)) {
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
  return OneOf(inputs[index].name + "_changed", inputs[index].name, choices);
}

// A number is added to all elements.
Deviation AddedTo(const Tensors& inputs, size_t index) {
  const auto changed = [index](const Hypothesis& base, double number) -> std::optional<Hypothesis> {
    Hypothesis model = base;
    for (double& x : model.inputs[index].values.data) x += number;
    return model;
  };
  return {.name = inputs[index].name + "_shifted",
          .factor = inputs[index].name,
          .values = {{1}, {-1}, {0.5}, {-0.5}, {2}, {-2}},
          .right = 0,
          .changed = changed,
          .sentence = [name = inputs[index].name](const std::string& number) {
            return number + " is added to " + name;
          }};
}

// Numbers beyond a limit are the limit, on both sides.
Deviation LimitOf(const Tensors& inputs, size_t index) {
  double largest = 0;
  for (const double x : inputs[index].values.data)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  const auto changed = [index](const Hypothesis& base, double limit) -> std::optional<Hypothesis> {
    if (!(limit > 0)) return std::nullopt;
    Hypothesis model = base;
    for (double& x : model.inputs[index].values.data) x = std::clamp(x, -limit, limit);
    return model;
  };
  return {.name = inputs[index].name + "_limited",
          .factor = inputs[index].name,
          .values = {{1}, {2}, {3}, {4}, {5}, {6}, {8}, {10}, {0.5}},
          .right = largest,
          .changed = changed,
          .sentence = [name = inputs[index].name](const std::string& number) {
            return name + " is limited to " + number + " and -" + number;
          }};
}

}  // namespace

Deviation InputFactor(const Tensors& inputs, const std::string& name, const std::string& phrase) {
  const auto index =
      static_cast<size_t>(std::ranges::find(inputs, name, &NamedTensor::name) - inputs.begin());
  const auto changed = [index](const Hypothesis& base, double factor) -> std::optional<Hypothesis> {
    Hypothesis model = base;
    for (double& x : model.inputs[index].values.data) x *= factor;
    return model;
  };
  std::vector<NamedValue> likely = {{-1}, {2}, {0.5}, {4}, {0.25}, {8}, {0.125}};
  likely.push_back({1 / std::numbers::ln2, "1.442695 = log2(e)"});
  likely.push_back({std::numbers::ln2, "0.6931472 = ln 2"});
  return {.name = name + "_multiplied",
          .factor = name,
          .values = std::move(likely),
          .right = 1,
          .changed = changed,
          .sentence = [phrase](const std::string& number) { return phrase + " " + number; }};
}

std::vector<Deviation> InputChanges(const Case& c, const Tensors& inputs) {
  std::vector<Deviation> deviations;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].dtype != DType::kI64) deviations.push_back(ChangeOf(c, inputs, i));
  return deviations;
}

std::vector<Explanation> MeasureInputs(const Observation& seen) {
  const Hypothesis base{seen.c.operation().Clone(), SharedInputs::Of(seen.inputs), seen.recipe};
  std::vector<Deviation> deviations = InputChanges(seen.c, seen.inputs);
  for (size_t i = 0; i < seen.inputs.size(); ++i) {
    if (seen.inputs[i].dtype == DType::kI64) continue;
    const std::string& name = seen.inputs[i].name;
    deviations.push_back(InputFactor(seen.inputs, name, name + " is multiplied by"));
    deviations.push_back(AddedTo(seen.inputs, i));
    deviations.push_back(LimitOf(seen.inputs, i));
  }
  return FittedTo(seen, base, deviations);
}

}  // namespace sextant::oracle
