#include "oracle/diagnosis/input_axes.h"

#include <set>
#include <utility>

namespace sextant::oracle {
namespace {

using Numbers = std::vector<double>;

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

// One index has the numbers of a neighbour.
void AddNeighbours(const Axis& axis, size_t index, std::vector<InputChange>& changes) {
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

// Some indices are 0: from one on, before one, one alone, every second one.
void AddLost(const Axis& axis, size_t index, std::vector<InputChange>& changes) {
  const auto add = [&](const std::string& text, const std::function<bool(size_t i)>& is_lost) {
    changes.push_back({WithName(text, axis.name), [=](const Tensors& all) {
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

}  // namespace

std::vector<InputChange> InputOrders(const TensorSpec& spec, const Shape& shape, size_t index) {
  std::vector<InputChange> changes;
  for (const Axis& axis : AxesOf(spec, shape)) {
    for (const AxisOrder& order : OrdersOf(axis.extent)) {
      changes.push_back({WithName(order.text, axis.name), [=](const Tensors& all) {
                           return Reordered(all[index].values.data, axis,
                                            [&](size_t i) { return order.from(i, axis.extent); });
                         }});
    }
  }
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
      places.push_back({WithName("at @ " + std::to_string(i) + ", along #", axis.name),
                        [=](size_t flat) { return flat / axis.inner % axis.extent == i; }});
  }
  return places;
}

}  // namespace sextant::oracle
