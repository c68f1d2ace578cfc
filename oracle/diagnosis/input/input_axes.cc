#include "oracle/diagnosis/input/input_axes.h"

#include <utility>

#include "oracle/diagnosis/input/input_memory.h"
#include "oracle/diagnosis/vocabulary/axis_orders.h"

namespace sextant::oracle {
namespace {

using Numbers = std::vector<double>;

// An axis of a tensor [outer, extent, inner].
struct Axis {
  std::string name, noun;
  size_t extent, inner;
};

// What an index of the axis is.
std::string NounOf(const std::string& axis) {
  constexpr std::pair<const char*, const char*> kNouns[] = {
      {"B", "batch"},   {"H", "head"},    {"K", "head"}, {"S", "token"}, {"T", "key"},
      {"D", "channel"}, {"E", "channel"}, {"N", "row"},  {"V", "row"}};
  for (const auto& [letter, noun] : kNouns)
    if (axis == letter) return noun;
  return axis.size() == 1 ? "column" : "row";  // of a table
}

// Of experts[E,F,M], and slots[N,K] of a token, where other operations have channels and heads.
std::string NounOf(const TensorSpec& spec, size_t axis) {
  if (spec.extents[axis] == "E" && axis == 0) return "expert";
  if (spec.extents[axis] == "K" && axis > 0 && axis + 1 == spec.extents.size()) return "slot";
  return NounOf(spec.extents[axis]);
}

std::vector<Axis> AxesOf(const TensorSpec& spec, const Shape& shape) {
  std::vector<Axis> axes;
  size_t inner = 1;
  for (size_t a = shape.size(); a-- > 0; inner *= shape[a])
    if (shape[a] > 1) axes.push_back({spec.extents[a], NounOf(spec, a), shape[a], inner});
  return axes;
}

std::string WithName(std::string text, const Axis& axis) {
  for (size_t at; (at = text.find('@')) != std::string::npos;) text.replace(at, 1, axis.noun);
  for (size_t at; (at = text.find('#')) != std::string::npos;) text.replace(at, 1, axis.name);
  return text;
}

// One index has the numbers of a neighbour.
void AddNeighbours(const Axis& axis, size_t index, std::vector<InputChange>& changes) {
  const auto add = [&](size_t i, size_t from) {
    changes.push_back({WithName("has @ " + std::to_string(from) + " in place of @ " +
                                    std::to_string(i) + ", along #",
                                axis),
                       [=](const Tensors& all) {
                         return InOrder(
                             all[index].values.data, [=](size_t j) { return j == i ? from : j; },
                             axis.extent, axis.inner);
                       }});
  };
  for (size_t i = 0; i < axis.extent; ++i) {
    if (i > 0) add(i, i - 1);
    if (i + 1 < axis.extent) add(i, i + 1);
  }
}

// Some indices are 0: from one on, before one, one alone, every second one.
void AddLost(const Axis& axis, size_t index, std::vector<InputChange>& changes) {
  const auto add = [&](const std::string& text, const std::function<bool(size_t i)>& is_lost) {
    changes.push_back({WithName(text, axis), [=](const Tensors& all) {
                         Numbers y = all[index].values.data;
                         for (size_t flat = 0; flat < y.size(); ++flat)
                           if (is_lost(flat / axis.inner % axis.extent)) y[flat] = 0;
                         return y;
                       }});
  };
  const size_t n = axis.extent;
  for (size_t i = 1; i < n; ++i) {
    const std::string at = std::to_string(i);
    add("is 0 from @ " + at + " on, along #", [=](size_t j) { return j >= i; });
    add("is 0 before @ " + at + ", along #", [=](size_t j) { return j < i; });
  }
  if (n < 3) return;
  for (size_t i = 0; i < n; ++i)
    add("is 0 at @ " + std::to_string(i) + ", along #", [=](size_t j) { return j == i; });
  add("is 0 at every odd @, along #", [](size_t j) { return j % 2 == 1; });
  add("is 0 at every even @, along #", [](size_t j) { return j % 2 == 0; });
}

void AddOrders(const Axis& axis, size_t index, bool are_usual, std::vector<InputChange>& changes) {
  for (const AxisOrder& order : OrdersOf(axis.extent, OrdersFor::kInputs)) {
    if (order.is_usual != are_usual) continue;
    changes.push_back({WithName("has its @s in another order, along #: " + order.text, axis),
                       [=](const Tensors& all) {
                         return InOrder(all[index].values.data, order.from, axis.extent,
                                        axis.inner);
                       }});
  }
}

}  // namespace

std::vector<InputChange> InputOrders(const TensorSpec& spec, const Shape& shape, size_t index) {
  std::vector<InputChange> changes;
  for (const Axis& axis : AxesOf(spec, shape)) AddOrders(axis, index, true, changes);
  return changes;
}

std::vector<InputChange> RareInputOrders(const TensorSpec& spec, const Shape& shape, size_t index) {
  std::vector<InputChange> changes;
  for (const Axis& axis : AxesOf(spec, shape)) AddOrders(axis, index, false, changes);
  for (InputChange& change : MemoryOrders(spec, shape, index)) changes.push_back(std::move(change));
  return changes;
}

std::vector<InputChange> InputParts(const TensorSpec& spec, const Shape& shape, size_t index) {
  constexpr size_t kMost = 64;  // of longer axes the parts are too many
  std::vector<InputChange> changes;
  for (const Axis& axis : AxesOf(spec, shape)) {
    if (axis.extent > kMost) continue;
    AddLost(axis, index, changes);
    AddNeighbours(axis, index, changes);
  }
  return changes;
}

std::vector<InputPlace> InputPlaces(const TensorSpec& spec, const Shape& shape) {
  constexpr size_t kMost = 8;
  std::vector<InputPlace> places;
  for (const Axis& axis : AxesOf(spec, shape)) {
    for (size_t i = 0; i < axis.extent && axis.extent <= kMost; ++i)
      places.push_back({"at_" + axis.name + "_" + std::to_string(i),
                        WithName("at @ " + std::to_string(i) + ", along #", axis),
                        [=](size_t flat) { return flat / axis.inner % axis.extent == i; }});
  }
  return places;
}

}  // namespace sextant::oracle
